// Files by chance through source, decoding and decoders, without a server: rows, rejects and lines are those of the model that wrote them,
// and damaged files come to the same by the compiled decoder as by csv-parse. Many more than the real runs of fuzz.test.ts load.
//
//   FUZZ_SECONDS=600 FUZZ_SEED=1 npm run test:fuzz

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../src/format/rows/compiled-decoder.ts';
import type { Decoder } from '../../src/format/rows/decoder.ts';
import { EtlError } from '../../src/index.ts';
import type { RecordBlock } from '../../src/format/records/record-blocks.ts';
import { useFiles } from '../helpers/files.ts';
import { prepare, tableAt, type Prepared } from '../helpers/fuzz-files.ts';
import { expectParsed } from '../helpers/fuzz-parse.ts';
import { tableScene, type TableScene } from '../helpers/fuzz-scene.ts';
import { readCount } from '../helpers/seeded.ts';
import { streamedOutcome } from '../unit/format/records/both-decoders.ts';
import { createRecordDecoder } from '../unit/format/records/record-decoder.ts';
import { tableOfLocation } from '../unit/format/records/reading.ts';
import {
  pieceBlocks,
  planFile,
  recordReads,
  segmentBlocks,
  type PlannedFile,
} from '../unit/run/read-table.ts';

/** As long as real runs take: the same again. */
const seconds = readCount('FUZZ_SECONDS', 600);
const firstSeed = readCount('FUZZ_SEED', 1 + (Date.now() % 1_000_000));
const files = useFiles();

const read = async (blocks: AsyncIterable<RecordBlock>, decode: Decoder) => {
  let text = '';
  let records = 0;
  const rejects: object[] = [];
  for await (const block of blocks) {
    const decoded = decode(block);
    const { copied, rejected, filtered } = decoded.counts;
    expect(decoded.counts.records).toBe(copied + rejected + filtered);
    records += decoded.counts.records;
    text += decoded.copyBytes.toString();
    rejects.push(...decoded.rejects);
  }
  return { text, records, rejects };
};

/** The file as both decoders read it, each in one of the ways of a run; the code of an error that its bytes lead to. */
const readBoth = async (planned: PlannedFile) => {
  const { table, file } = planned;
  const record = await read(segmentBlocks(planned), createRecordDecoder(table, file, encodeTextRow));
  const compiled = createCompiledDecoder(table, file, encodeTextRow);
  const fast = await read(
    file.dataEnd === null ? pieceBlocks(planned, 500) : segmentBlocks(planned),
    compiled,
  );
  expect(fast.text, 'rows by the compiled decoder').toBe(record.text);
  expect(fast.rejects, 'rejects by the compiled decoder').toEqual(record.rejects);
  const { start, reads } = recordReads(planned, 700);
  const streamed = await streamedOutcome(reads, start, table, file, encodeTextRow);
  if (streamed !== undefined) {
    expect(Buffer.from(streamed.rows, 'hex').toString(), 'rows of the stream').toBe(record.text);
    expect(streamed.rejects, 'rejects of the stream').toEqual(record.rejects);
  }
  return fast;
};

const readOrCode = async (
  table: Parameters<typeof planFile>[0],
): Promise<Awaited<ReturnType<typeof read>> | string> => {
  try {
    return await readBoth(await planFile(table));
  } catch (error) {
    if (error instanceof EtlError && /^ETL_(?:SOURCE|HEADER|FILE)_/.test(error.code)) return error.code;
    throw error;
  }
};

let [played, parsed] = [0, 0];

const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** The rows of COPY's text. */
const rowsIn = (text: string): readonly (readonly (string | null)[])[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) =>
      line
        .split('\t')
        .map((field) =>
          field === '\\N' ? null : field.replace(/\\(.)/gs, (_, one: string) => letters[one] ?? one),
        ),
    );

/** One file of a table, whole: rows, rejects and records are those of the model. */
const playWhole = (
  { scene, made }: Prepared,
  file: number,
  found: Awaited<ReturnType<typeof readOrCode>>,
) => {
  if (typeof found === 'string') throw new Error(`file ${file}: ${found}`);
  const { rows, rejects, records } = made[file]!.expected;
  const seen = found.rejects as { position: { line: number; record: number }; code: string }[];
  // COPY's text has booleans shorter than they are printed.
  const copied = rows.map((row) =>
    row.map((text, place) => (scene.kinds[place - 1] === 'boolean' ? (text?.[0] ?? null) : text)),
  );
  expect(found.text, `rows of file ${file}`).toBe(copied.map(encodeTextRow).join(''));
  expect(seen.map(({ position: { line, record }, code }) => ({ line, record, code }))).toEqual(rejects);
  expect(found.records).toBe(records);
};

const play = async (drawn: TableScene): Promise<void> => {
  played += 1;
  // Where fields come as they are, the server reads them.
  const scene = { ...drawn, staging: 'typed' as const };
  const prepared = prepare(scene, 0);
  const { form, contents, packed, broken } = prepared;
  fc.pre(contents[0]!.length > 0);
  const write = (name: string, bytes: Buffer, member = '') => files.write(name, bytes) + member;
  const names = packed.map((bytes, file) => write(`${file}.csv${form.end}`, bytes, form.member));
  const readAt = (file: number, name = names[file]!) =>
    readOrCode(tableOfLocation(tableAt(scene, names.with(file, name), ''), name));
  if (broken !== undefined) await readAt(0, write(`broken.csv${form.end}`, broken[0]!, form.member));
  for (let file = 1; file < names.length; file += 1) playWhole(prepared, file, await readAt(file));
  const found = await readAt(0);
  if (scene.damage?.of !== 'content') {
    playWhole(prepared, 0, found);
    return;
  }
  const plain = await readAt(0, write('plain.csv', contents[0]!));
  const isSame = isDeepStrictEqual(found, plain);
  expect(isSame ? plain : found, 'what the plain file comes to').toEqual(plain);
  if (typeof found !== 'string' && expectParsed(prepared, found.records, rowsIn(found.text))) parsed += 1;
};

it(`decoded for ${seconds} seconds, from seed ${firstSeed} on`, async () => {
  const until = Date.now() + seconds * 1000;
  let seed = firstSeed;
  // Shrinking a failure ends after a minute: a file of 700 records has thousands of smaller ones.
  const limits = { numRuns: 50, interruptAfterTimeLimit: 60_000 };
  for (; Date.now() < until; seed += 1)
    await fc.assert(fc.asyncProperty(tableScene, play), { seed, ...limits });
  console.log(
    `FUZZ_SEED=${firstSeed}: seeds to ${seed - 1}, ${played} files, ${parsed} of them damaged and taken by csv-parse`,
  );
  expect(played).toBeGreaterThan(0);
});
