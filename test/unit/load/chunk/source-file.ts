// A file of two fields that a test has written, as the ledger would have it.

import type { SourceFile } from '../../../../src/core/model.ts';

export const sourceFile = (
  location: string,
  name: string,
  bytes: Buffer,
  { decoding, dataEnd }: Pick<SourceFile, 'decoding' | 'dataEnd'>,
): SourceFile => ({
  id: 1,
  runId: 1,
  runStarted: '',
  table: 't',
  source: 'file',
  location,
  member: null,
  name,
  ordinal: 0,
  bytes: bytes.length,
  fingerprint: '',
  decoding,
  encoding: 'utf-8',
  reading: 0,
  part: null,
  header: ['a', 'b'],
  dataByte: 0,
  dataLine: 1,
  dataEnd,
  lineEnd: 'lf',
  constants: {},
  differs: null,
});
