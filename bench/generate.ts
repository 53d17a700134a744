// Files of any size, written as a stream; the same arguments give the same bytes.

import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface GeneratedFile {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Dataset {
  /** Contains the files and nothing else. */
  readonly directory: string;
  readonly records: number;
  readonly files: readonly GeneratedFile[];
}

/** What the files of one kind contain. */
export interface FileKind {
  /** What the names of the files end with, after their numbers. */
  readonly nameEnd: string;
  /** With its line end; empty when the files have no header. */
  readonly headerLine: string;
  /** Lines without end, each with its line end, in batches of any size. */
  readonly lines: (seed: number) => Iterator<readonly string[], never>;
}

/** Batches of lines from a function that makes one. */
export function* batchesOf(makeLine: () => string): Generator<readonly string[], never> {
  for (;;) yield Array.from({ length: 1000 }, makeLine);
}

/** Texts of files with `perFile[n]` records each, in pieces of a few hundred kilobytes; `undefined` ends a file. */
function* pieces(
  perFile: readonly number[],
  { headerLine, lines }: FileKind,
  seed: number,
): Generator<string | undefined, void> {
  const source = lines(seed);
  let batch: readonly string[] = [];
  let used = 0;
  for (const records of perFile) {
    let piece = headerLine;
    for (let left = records; left > 0;) {
      if (used === batch.length) {
        batch = source.next().value;
        used = 0;
      }
      const taken = batch.slice(used, used + left);
      used += taken.length;
      left -= taken.length;
      yield piece + taken.join('');
      piece = '';
    }
    yield undefined;
  }
}

/** Writes a file from pieces, up to the next `undefined`. */
const writePieces = async (
  path: string,
  records: number,
  source: Iterator<string | undefined>,
): Promise<GeneratedFile> => {
  const hash = createHash('sha256');
  let bytes = 0;
  function* fileBytes(): Generator<Buffer, void> {
    for (let next = source.next(); !next.done && next.value !== undefined; next = source.next()) {
      const piece = Buffer.from(next.value);
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(Readable.from(fileBytes()), createWriteStream(path));
  return { path, records, bytes, sha256: hash.digest('hex') };
};

/** Writes `records` records into `files` files of nearly the same size. The rows do not depend on `files`. */
export const generate = async (
  kind: FileKind,
  directory: string,
  records: number,
  files: number,
  seed: number,
): Promise<Dataset> => {
  mkdirSync(directory, { recursive: true });
  const perFile = Array.from(
    { length: files },
    (_, file) => Math.floor((records * (file + 1)) / files) - Math.floor((records * file) / files),
  );
  const source = pieces(perFile, kind, seed);
  const written: GeneratedFile[] = [];
  for (const [index, own] of perFile.entries()) {
    const path = join(directory, `${String(index + 1).padStart(3, '0')}${kind.nameEnd}`);
    written.push(await writePieces(path, own, source));
  }
  return { directory, records, files: written };
};
