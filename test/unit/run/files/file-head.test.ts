// Files that are not CSV are refused by what they are, however they are declared, by runs and by `etl init`.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readForInit } from '../../../../src/tools/init/write-init.ts';
import { failureOf } from '../../../helpers/failure.ts';
import { useFiles } from '../../../helpers/files.ts';
import { tableOf } from '../../format/records/reading.ts';
import { planFile } from '../read-table.ts';

const files = useFiles();

const tar = Buffer.alloc(1024);
tar.write('a.csv');
tar.write('ustar  ', 257);

const contents: readonly (readonly [what: string, bytes: string | Buffer, says: string, hint: string])[] = [
  ['xz', '\xfd7zXZ\x00\x00', 'is compressed (xz)', '`unxz`'],
  ['bzip2', 'BZh91AY&SY\x80', 'is compressed (bzip2)', '`bunzip2`'],
  ['lzma', ']\x00\x00\x80\x00\xff\xff', 'is compressed (lzma)', '`unlzma`'],
  ['lz4', '\x04"M\x18d@', 'is compressed (lz4)', '`unlz4`'],
  ['snappy', '\xff\x06\x00\x00sNaPpY', 'is compressed (snappy)', '`snzip -d`'],
  ['compress', '\x1f\x9d\x90a', 'is compressed (compress)', '`uncompress`'],
  ['tar', tar, 'is an archive (tar)', '`tar -xf`'],
  ['7z', "7z\xbc\xaf'\x1c\x00", 'is an archive (7z)', '`7z x`'],
  ['rar', 'Rar!\x1a\x07\x01', 'is an archive (rar)', '`unrar x`'],
  ['xls', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'is a document of an office program', 'sheet as CSV'],
  ['PDF', '%PDF-1.7\n1 0 obj\n', 'is a PDF document, not CSV', 'as CSV'],
  ['Parquet', 'PAR1\x15\x04', 'is a Parquet file, not CSV', 'as CSV'],
  ['Avro', 'Obj\x01\x04', 'is an Avro file, not CSV', 'as CSV'],
  ['Arrow', 'ARROW1\x00\x00', 'is an Arrow file, not CSV', 'as CSV'],
  ['SQLite', 'SQLite format 3\x00', 'is an SQLite database, not CSV', 'as CSV'],
  ['pg_dump', 'PGDMP\x01\x0e', "is a dump in pg_dump's custom format", 'pg_restore'],
  ['COPY', 'PGCOPY\n\xff\r\n\x00', "is a file in COPY's binary format", 'COPY'],
  ['UTF-32', '\xff\xfe\x00\x00a\x00\x00\x00', 'is in UTF-32', 'iconv -f utf-32'],
];

describe.each(contents)('%s', (name, content, says, hint) => {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;

  it('is refused, in gzip too, with a header and without, in whatever encoding', async () => {
    for (const stored of [bytes, gzipSync(bytes)]) {
      const location = files.write(`${name}.csv`, stored);
      for (const options of [
        {},
        { header: ['a', 'b'] },
        { skipLines: 1, encoding: 'windows-1252' },
        { encoding: 'detect' },
      ]) {
        const table = tableOf(options);
        const planning = planFile({ ...table, source: { ...table.source, locations: [location] } });
        const error = await failureOf(planning);
        expect(error).toMatchObject({ code: 'ETL_SOURCE_FORMAT', details: { table: 't' }, exit: 1 });
        expect([error.message, error.hint]).toEqual([
          expect.stringContaining(`${name}.csv ${says}`),
          expect.stringContaining(hint),
        ]);
      }
    }
  });

  it('is nothing that etl init writes a pipeline for', async () => {
    const locations = [files.write(`${name}.csv`, bytes)];
    const error = await failureOf(readForInit({ locations, workingDirectory: files.directory }));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_FORMAT', details: { table: 'init' } });
    expect(error.message).toContain(says);
  });
});

it.each([
  ['<!doctype html><html></html>\n', 'is a web page, not CSV'],
  ['<?xml version="1.0"?>\n<a/>\n', 'is XML, not CSV'],
  ['{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n', 'is JSON, not CSV'],
])('%j could be read in some dialect, and etl init asks for none', async (content, says) => {
  const locations = [files.write('text.csv', content)];
  const error = await failureOf(readForInit({ locations, workingDirectory: files.directory }));
  expect(error).toMatchObject({ code: 'ETL_SOURCE_FORMAT', message: expect.stringContaining(says) });
});

it('an archive in gzip is compressed twice for etl init, too', async () => {
  const locations = [files.write('a.csv', gzipSync(Buffer.from('PK\x05\x06more')))];
  const error = await failureOf(readForInit({ locations, workingDirectory: files.directory }));
  expect(error).toMatchObject({ code: 'ETL_SOURCE_FORMAT', message: expect.stringContaining('twice (zip)') });
});
