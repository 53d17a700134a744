// Decodes a file of one spelling of the matrix without a server, in turns with csv-parse on the same bytes. Prints CPU nanoseconds
// a field, the least of the rounds, and counts. The rows of one more pass go into a file as binary COPY.
//
//   jiti spelling.ts <pipeline> <spelling> <file> <rounds> <rows-file>

import { counts } from './counts.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { SourceTableSpec } from '../../src/core/declaration.ts';
import { typeOf } from '../../src/format/types/registry.ts';
import { blockDecoder } from '../../src/format/rows/compiled-decoder.ts';
import { createRowMaker } from '../../src/format/rows/row-maker.ts';
import { streamRows } from '../../src/format/rows/stream-rows.ts';
import { createSplitter } from '../../src/format/records/splitter.ts';
import { loadPipelineFile } from '../../src/index.ts';
import { readBytes } from '../../src/core/limits.ts';
import { bindPipeline } from '../../src/pipeline/bind.ts';

const [pipelineFile = '', spelling = '', file = '', rounds = '', rowsFile = ''] = process.argv.slice(2);

const { pipeline, directory } = await loadPipelineFile(pipelineFile);
const declared = bindPipeline(pipeline, { params: { spelling }, directory }).tables[0] as SourceTableSpec;
const table = { ...declared, ...declared.readings[0]! };
const bytes = readFileSync(file);
const dataAt = bytes.indexOf('\n') + 1;
const header = bytes.toString('utf8', 0, dataAt - 1).split(',');

async function* pieces(): AsyncGenerator<Buffer> {
  for (let at = dataAt; at < bytes.length; at += readBytes) yield bytes.subarray(at, at + readBytes);
}

const decode = async (take?: (rows: Uint8Array) => void): Promise<number> => {
  const maker = createRowMaker(table, { name: file, header, lineEnd: 'lf', constants: {} });
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  let copied = 0;
  const start = { byte: dataAt, line: 2, record: 1 };
  const whole = { bytes: Infinity, rejects: 1 };
  for await (const decoded of streamRows(maker, blockDecoder(maker), split, pieces(), start, whole)) {
    if (decoded.rejects.length > 0) throw new Error(`rejected: ${JSON.stringify(decoded.rejects[0])}`);
    copied += decoded.counts.copied;
    take?.(decoded.copyBytes);
  }
  return copied;
};

/** CPU microseconds. */
const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const rows: Buffer[] = [];
const records = await decode((copyBytes) => rows.push(Buffer.from(copyBytes)));
const head = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
writeFileSync(rowsFile, Buffer.concat([head, ...rows, Buffer.from([0xff, 0xff])]));

Object.assign(counts, { hostCalls: 0, routineCalls: 0, copiedBytes: 0 });
await decode();
const { hostCalls, routineCalls, copiedBytes } = counts;

const ours: number[] = [];
const theirs: number[] = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  ours.push(await cpuOf(() => decode()));
  theirs.push(await cpuOf(async () => parse(bytes)));
}
const fields = records * header.length;
const first = table.columns[0]!;
// The first round of each is that of code which is not compiled yet.
const nsOf = (microseconds: readonly number[]): number =>
  (Math.min(...microseconds.slice(1)) * 1000) / fields;

console.log(
  JSON.stringify({
    records,
    type: typeOf(first).sql(first.options),
    sluiceNs: nsOf(ours),
    csvParseNs: nsOf(theirs),
    hostCallsPerField: hostCalls / fields,
    routineCallsPerRecord: routineCalls / records,
    copiedPerByte: copiedBytes / (bytes.length - dataAt),
  }),
);
