// Dirty files in every form and from everywhere: rows, rejects and lines of the table of cases, through source, decoding and
// both decoders.

import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../src/format/rows/compiled-decoder.ts';
import type { Decoder } from '../../../src/format/rows/decoder.ts';
import type { RecordBlock } from '../../../src/format/records/record-blocks.ts';
import { fileForms, plainForm, type FileForm } from '../../helpers/file-forms.ts';
import { useFiles } from '../../helpers/files.ts';
import { useHttpFiles } from '../../helpers/http-files.ts';
import { binaryRecordDecoder } from '../format/records/both-decoders.ts';
import { dirtyCases, type DirtyCase } from '../format/records/dirty-cases.ts';
import { tableOf } from '../format/records/reading.ts';
import { createRecordDecoder } from '../format/records/record-decoder.ts';
import { pieceBlocks, planFile, segmentBlocks, type PlannedFile } from './read-table.ts';

const files = useFiles();
const server = useHttpFiles();

/** Rows, and rejects as the table of cases has them. */
interface Read {
  readonly rows: string;
  readonly rejects: readonly string[];
}

const read = async (
  blocks: AsyncIterable<RecordBlock>,
  decoders: readonly Decoder[],
): Promise<readonly Read[]> => {
  const all = decoders.map(() => ({ rows: '', rejects: [] as string[] }));
  for await (const block of blocks)
    for (const [index, decode] of decoders.entries()) {
      const { copyBytes, rejects } = decode(block);
      const one = all[index]!;
      one.rows += copyBytes.toString('latin1');
      for (const { code, position, column } of rejects)
        one.rejects.push(`${code}@${position.line}:${column ?? ''}`);
    }
  return all;
};

type Decoders = readonly [text: Decoder, compiledText: Decoder, binary: Decoder, compiled: Decoder];

const decodersOf = ({ table, file }: PlannedFile): Decoders => [
  createRecordDecoder(table, file, encodeTextRow),
  createCompiledDecoder(table, file, encodeTextRow),
  binaryRecordDecoder(table, file),
  createCompiledDecoder(table, file),
];

/** A case in UTF-8 or in another encoding: making a table and its decoders takes longer than using them. */
const prepared = dirtyCases.map((dirty) => ({
  ...dirty,
  content: Buffer.from(dirty.input as string),
  table: tableOf(dirty.options, { columns: dirty.columns }),
  decoders: new Map<string, Decoders>(),
}));

/** In a file that is not in UTF-8, bytes that are no text have another code. */
const rejectsIn = ({ rejects }: DirtyCase, encoding: string): readonly string[] =>
  encoding === 'utf-8' ? rejects : rejects.map((reject) => reject.replace('invalid_utf8', 'encoding'));

type Put = (name: string, bytes: Buffer) => string;

type Way = (planned: PlannedFile) => AsyncIterable<RecordBlock>;

/** Reads a case in a form: what differs from the table of cases. */
const differencesOf = async (
  dirty: (typeof prepared)[number],
  { encoding = 'utf-8', ...form }: FileForm,
  location: string,
  way: Way,
): Promise<readonly unknown[]> => {
  const { source, format } = dirty.table;
  const planned = await planFile({
    ...dirty.table,
    source: { ...source, locations: [location], options: { allowPrivate: true } },
    format: { ...format, encoding },
  });
  const { header, lineEnd } = planned.file;
  const key = JSON.stringify([encoding === 'utf-8', header, lineEnd]);
  const decoders = dirty.decoders.get(key) ?? decodersOf(planned);
  dirty.decoders.set(key, decoders);
  const rows = Buffer.from(dirty.rows.map(encodeTextRow).join('')).toString('latin1');
  const rejects = rejectsIn(dirty, encoding);
  const [text, compiledText, binary, compiled] = await read(way(planned), decoders);
  const isRight =
    isDeepStrictEqual(
      [text, compiledText],
      [
        { rows, rejects },
        { rows, rejects },
      ],
    ) &&
    isDeepStrictEqual(binary, compiled) &&
    isDeepStrictEqual(binary!.rejects, rejects);
  return isRight ? [] : [{ form: form.name, name: dirty.name, text, compiledText, binary, compiled }];
};

/** Every case in its form, where `put` puts it. */
const differences = async (
  formOf: (index: number) => FileForm,
  put: Put,
  way: Way = segmentBlocks,
): Promise<readonly unknown[]> => {
  const found = prepared.map(async (dirty, index) => {
    const form = formOf(index);
    if (form.encoding !== undefined && !isUtf8(dirty.content)) return [];
    const location = put(`${index}.csv${form.end}`, form.pack(dirty.content)) + (form.member ?? '');
    return differencesOf(dirty, form, location, way);
  });
  return (await Promise.all(found)).flat();
};

const gzip = fileForms.find(({ name }) => name === 'gzip')!;
const put: Put = (name, bytes) => files.write(name, bytes);

/** Each answer is cut off after a quarter of the file. */
const serve: Put = (name, bytes) => server.put(`/${name}`, { bytes, cutAt: Math.ceil(bytes.length / 4) });

describe('dirty files give the rows and rejects of the table of cases', () => {
  it.each(fileForms)('as $name', async (form) => {
    expect(
      await differences(
        () => form,
        (name, bytes) => put(`${form.name}/${name}`, bytes),
      ),
    ).toEqual([]);
  });

  it('in pieces, as all workers load a stream', async () => {
    const inPieces: Way = (planned) => pieceBlocks(planned, 8);
    expect(await differences(() => gzip, put, inPieces)).toEqual([]);
  });

  it('from a web server that cuts the connection three times, in gzip and in every form by turns', async () => {
    const found = [
      differences(
        () => gzip,
        (name, bytes) => serve(`gzip/${name}`, bytes),
      ),
      differences((index) => fileForms[index % fileForms.length]!, serve),
    ];
    expect((await Promise.all(found)).flat()).toEqual([]);
    const resumed = server.requests.filter(({ headers }) => headers['if-range'] !== undefined);
    expect(resumed.length).toBeGreaterThan(3 * 2 * 60);
  });

  it('and are seen to differ if they do', async () => {
    const pack = (content: Buffer) => Buffer.concat([content, Buffer.from('\n1,2,3,4')]);
    expect((await differences(() => ({ ...plainForm, pack }), put)).length).toBeGreaterThan(60);
  });
});
