// Decodes a file of one spelling of the matrix without a server, in turns with csv-parse on the same bytes. Prints CPU nanoseconds
// a field, the least of the rounds, and counts. The rows of one more pass go into a file as binary COPY.
//
//   node spelling.mjs <pipeline> <spelling> <file> <rounds> <rows-file>

import { counts } from './counts.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { typeOf } from '../../dist/format/column-types/registry.js';
import { createCompiledDecoder } from '../../dist/format/compiled/compiled-decoder.js';
import { recordBlocks } from '../../dist/format/split/record-blocks.js';
import { createSplitter } from '../../dist/format/split/splitter.js';
import { loadPipelineFile } from '../../dist/index.js';
import { readBytes } from '../../dist/limits.js';
import { bindPipeline } from '../../dist/pipeline/bind.js';

const [pipelineFile, spelling, file, rounds, rowsFile] = process.argv.slice(2);

const { pipeline, directory } = await loadPipelineFile(pipelineFile);
const [table] = bindPipeline(pipeline, { params: { spelling }, directory }).tables;
const bytes = readFileSync(file);
const dataAt = bytes.indexOf('\n') + 1;
const header = bytes.toString('utf8', 0, dataAt - 1).split(',');

async function* pieces() {
  for (let at = dataAt; at < bytes.length; at += readBytes) yield bytes.subarray(at, at + readBytes);
}

const decode = async (take) => {
  const decodeBlock = createCompiledDecoder(table, { name: file, header, lineEnd: 'lf', constants: {} });
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  let copied = 0;
  for await (const block of recordBlocks(pieces(), { byte: dataAt, line: 2, record: 1 }, split)) {
    const decoded = decodeBlock(block);
    if (decoded.rejects.length > 0) throw new Error(`rejected: ${JSON.stringify(decoded.rejects[0])}`);
    copied += decoded.counts.copied;
    take?.(decoded.copyBytes);
  }
  return copied;
};

const cpuOf = async (work) => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const rows = [];
const records = await decode((copyBytes) => rows.push(Buffer.from(copyBytes)));
const head = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
writeFileSync(rowsFile, Buffer.concat([head, ...rows, Buffer.from([0xff, 0xff])]));

Object.assign(counts, { hostCalls: 0, routineCalls: 0, copiedBytes: 0 });
await decode();
const { hostCalls, routineCalls, copiedBytes } = counts;

const [ours, theirs] = [[], []];
for (let round = 0; round <= Number(rounds); round += 1) {
  ours.push(await cpuOf(() => decode()));
  theirs.push(await cpuOf(async () => parse(bytes)));
}
const fields = records * header.length;
// The first round of each is that of code which is not compiled yet.
const nsOf = (microseconds) => (Math.min(...microseconds.slice(1)) * 1000) / fields;

console.log(
  JSON.stringify({
    records,
    type: typeOf(table.columns[0]).sql(table.columns[0].options),
    sluiceNs: nsOf(ours),
    csvParseNs: nsOf(theirs),
    hostCallsPerField: hostCalls / fields,
    routineCallsPerRecord: routineCalls / records,
    copiedPerByte: copiedBytes / (bytes.length - dataAt),
  }),
);
