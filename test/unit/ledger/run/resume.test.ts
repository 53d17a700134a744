// The ranges of files that are missing, given the chunks in staging.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoadedChunkRow } from '../../../../src/ledger/run/ledger.ts';
import { missingSegments } from '../../../../src/ledger/run/resume.ts';
import type { SourceFile } from '../../../../src/core/model.ts';

const file = (id: number, bytes: number): SourceFile => ({
  id,
  runId: 1,
  runStarted: '',
  table: 't',
  source: 'file',
  location: '',
  member: null,
  name: '',
  ordinal: 0,
  bytes,
  fingerprint: '',
  decoding: null,
  encoding: 'utf-8',
  reading: 0,
  part: null,
  header: ['a'],
  dataByte: 10,
  dataLine: 2,
  dataEnd: bytes,
  lineEnd: 'lf',
  constants: {},
  differs: null,
});

/** A file whose decoded size is unknown. */
const stream = (id: number): SourceFile => ({ ...file(id, 40), decoding: 'gzip', dataEnd: null });

/** A chunk of records of ten bytes, one per line. */
const chunk = (fileId: number, start: number, end: number): LoadedChunkRow => {
  const records = (end - start) / 10;
  const place = end / 10;
  return {
    fileId,
    start,
    end: { byte: end, line: place + 1, record: place },
    records,
    copied: records,
    rejected: 0,
    filtered: 0,
  };
};

const rangesOf = (files: readonly SourceFile[], chunks: readonly LoadedChunkRow[]): string =>
  missingSegments(files, chunks)
    .map(({ fileId, start, byteEnd }) => `${fileId}:${start.byte}-${byteEnd}@${start.line}#${start.record}`)
    .join(' ');

describe('missingSegments', () => {
  it.each([
    ['nothing loaded', [file(1, 100)], [], '1:10-100@2#1'],
    ['all loaded', [file(1, 100)], [chunk(1, 10, 60), chunk(1, 60, 100)], ''],
    ['the end is missing', [file(1, 100)], [chunk(1, 10, 60)], '1:60-100@7#6'],
    ['the beginning is missing', [file(1, 100)], [chunk(1, 60, 100)], '1:10-60@2#1'],
    ['a gap in the middle', [file(1, 100)], [chunk(1, 10, 30), chunk(1, 60, 100)], '1:30-60@4#3'],
    ['a file without data', [file(1, 10)], [], ''],
    ['a stream that nobody has begun', [stream(1)], [], '1:10-null@2#1'],
    ['a stream whose end nobody has seen', [stream(1)], [chunk(1, 10, 60)], '1:60-null@7#6'],
    ['two files', [file(1, 100), file(2, 50)], [chunk(1, 10, 100)], '2:10-50@2#1'],
  ] as const)('%s', (_, files, chunks, expected) => expect(rangesOf(files, chunks)).toBe(expected));

  it('covers the file together with the chunks, without gap or overlap, whatever is loaded', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (loaded) => {
        const bytes = 10 + loaded.length * 10;
        const chunks = loaded.flatMap((is, index) =>
          is ? [chunk(1, 10 + index * 10, 20 + index * 10)] : [],
        );
        const covered = [
          ...chunks.map(({ start, end }) => [start, end.byte] as const),
          ...missingSegments([file(1, bytes)], chunks).map(
            ({ start, byteEnd }) => [start.byte, byteEnd] as const,
          ),
        ].toSorted((a, b) => a[0] - b[0]);
        let at = 10;
        for (const [start, end] of covered) {
          expect(start).toBe(at);
          at = end!;
        }
        expect(at).toBe(bytes);
      }),
    );
  });
});
