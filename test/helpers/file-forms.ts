// The forms in which one file may come: compressed, in pieces, in an archive, in another encoding.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { zipFile } from './zip-file.ts';
import { zstdStored } from './zstd.ts';

export interface FileForm {
  readonly name: string;
  /** Of the file's name. */
  readonly end: string;
  /** What a location has after the file's name. */
  readonly member?: string;
  /** What the table declares; undefined: nothing, the file is in UTF-8. Otherwise only a content that is text can come so. */
  readonly encoding?: string;
  readonly pack: (content: Buffer) => Buffer;
}

const partsMax = 64;

/** A member or frame for every byte of a small file, at most 64 of a large one, with an empty one at its beginning. */
const inParts =
  (pack: (content: Buffer) => Buffer) =>
  (content: Buffer): Buffer => {
    const step = Math.ceil(content.length / partsMax);
    const parts = [pack(Buffer.alloc(0))];
    for (let at = 0; at < content.length; at += step) parts.push(pack(content.subarray(at, at + step)));
    return Buffer.concat(parts);
  };

const utf16 = (content: Buffer): Buffer => Buffer.from(content.toString(), 'utf16le');
const brotli = (content: Buffer): Buffer =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

export const plainForm: FileForm = { name: 'plain', end: '', pack: (content) => content };

export const fileForms: readonly FileForm[] = [
  plainForm,
  { name: 'gzip', end: '.gz', pack: (content) => gzipSync(content) },
  { name: 'gzip of many members', end: '.gz', pack: inParts((content) => gzipSync(content, { level: 1 })) },
  { name: 'zstd of many frames', end: '.zst', pack: inParts(zstdStored) },
  { name: 'brotli', end: '.br', pack: brotli },
  {
    name: 'a member of a zip archive',
    end: '.zip',
    member: '!/in.csv',
    pack: (content) =>
      zipFile([
        { name: 'readme', content: 'x' },
        { name: 'in.csv', content, flags: 8 },
      ]),
  },
  {
    name: 'UTF-16LE by its mark',
    end: '',
    encoding: 'detect',
    pack: (content) => utf16(Buffer.from(`\ufeff${content.toString().replace(/^\ufeff/, '')}`)),
  },
  { name: 'UTF-16BE as declared', end: '', encoding: 'utf-16be', pack: (content) => utf16(content).swap16() },
  { name: 'UTF-16LE in gzip', end: '.gz', encoding: 'utf-16le', pack: (content) => gzipSync(utf16(content)) },
];
