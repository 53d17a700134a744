// Files for fault tests: NOAA's with a few records that are rejected, and a pipeline that allows them.

import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FileServer } from './http-files.ts';
import { writeNoaaFiles } from './noaa-files.ts';
import type { S3Server } from './s3.ts';
import { writeSettled } from './settled.ts';
import { zipFile } from './zip-file.ts';
import { zstdStored } from './zstd.ts';

/** Every so many records one is damaged, so that replayed chunks would double their rejects if anything could. */
const recordsPerReject = 1_500;

const damage = (path: string): void => {
  const lines = readFileSync(path, 'latin1').split('\n');
  for (let at = recordsPerReject / 2; at < lines.length - 1; at += recordsPerReject) {
    const fields = lines[at]!.split(',');
    fields[3] = 'none';
    lines[at] = fields.join(',');
  }
  writeSettled(path, lines.join('\n'), 'latin1');
};

/** Makes `directory` fit for `etl run pipelines/noaa.ts`: data, pipeline, SQL file. */
export const writeFaultFiles = (directory: string, records: number, files: number): void => {
  writeNoaaFiles(directory, records, files);
  const data = join(directory, 'data/noaa');
  for (const name of readdirSync(data)) if (name.endsWith('hourly.txt')) damage(join(data, name));
  cpSync('pipelines', join(directory, 'pipelines'), { recursive: true });
  editPipeline(directory, 'rejectLimit: 0', 'rejectLimit: 1_000');
};

/** Makes the pipeline load every table straight, without staging. */
export const loadDirectly = (directory: string): void => {
  for (const table of ['station', 'observation'])
    editPipeline(directory, `    ${table}: {`, `    ${table}: {\n      staging: 'none',`);
};

/** Puts every file of the data in gzip, under the name that it has. */
const compressFiles = (directory: string): void => {
  const data = join(directory, 'data/noaa');
  for (const name of readdirSync(data))
    writeSettled(join(data, name), gzipSync(readFileSync(join(data, name))));
};

const formats = [
  (bytes: Buffer): Buffer => gzipSync(bytes),
  (bytes: Buffer): Buffer => zipFile([{ name: 'data.txt', content: bytes }]),
  zstdStored,
];

/** Writes two of four files with semicolons, and makes the pipeline read these at a location of their own. */
export const writeSemicolons = (directory: string): void => {
  for (const name of ['003hourly.txt', '004hourly.txt']) {
    const file = join(directory, 'data/noaa', name);
    writeSettled(file, readFileSync(file, 'latin1').replaceAll(',', ';'), 'latin1');
  }
  editPipeline(
    directory,
    "csv('data/noaa/*hourly.txt', {",
    "csv(['data/noaa/00[12]hourly.txt', { path: 'data/noaa/00[34]hourly.txt', delimiter: ';' }], {",
  );
};

/** Puts the files of the data in gzip, zip and zstd, one after the other, under the names that they have; some with semicolons. */
export const packFiles = (directory: string): void => {
  writeSemicolons(directory);
  const data = join(directory, 'data/noaa');
  for (const [index, name] of readdirSync(data).toSorted().entries())
    writeSettled(join(data, name), formats[index % formats.length]!(readFileSync(join(data, name))));
};

/** Serves every file over HTTP, by connections that are cut off after a few of its chunks, and makes the pipeline read them there. */
export const serveFiles =
  (server: FileServer, under: string, cutAt: number) =>
  (directory: string): void => {
    compressFiles(directory);
    const data = join(directory, 'data/noaa');
    for (const kind of ['station', 'hourly']) {
      const names = readdirSync(data).filter((name) => name.endsWith(`${kind}.txt`));
      const urls = names
        .toSorted()
        .map((name) => server.put(`${under}/${name}`, { bytes: readFileSync(join(data, name)), cutAt }));
      editPipeline(
        directory,
        `csv('data/noaa/*${kind}.txt', {`,
        `csv(['${urls.join("', '")}'], { allowPrivate: true,`,
      );
    }
  };

/** Keeps the first few stations, before the files are put elsewhere. */
export const shortenStations =
  (edit: (directory: string) => void) =>
  (directory: string): void => {
    const path = join(directory, 'data/noaa/201505station.txt');
    writeSettled(path, readFileSync(path, 'latin1').split('\n').slice(0, 200).join('\n') + '\n', 'latin1');
    edit(directory);
  };

/** Puts every file into a public bucket, and makes the pipeline read it there. */
export const fillBucket =
  (server: S3Server, under: string) =>
  (directory: string): void => {
    const data = join(directory, 'data/noaa');
    for (const name of readdirSync(data))
      server.put('public', `${under}/${name}`, readFileSync(join(data, name)));
    for (const kind of ['station', 'hourly'])
      editPipeline(
        directory,
        `csv('data/noaa/*${kind}.txt', {`,
        `csv('s3://public/${under}/*${kind}.txt', { endpoint: '${server.endpoint}', anonymous: true,`,
      );
  };

/** Replaces a part of the pipeline file, which must be there. */
export const editPipeline = (directory: string, part: string, by: string): void => {
  const file = join(directory, 'pipelines/noaa.ts');
  const before = readFileSync(file, 'utf8');
  if (!before.includes(part)) throw new Error(`pipelines/noaa.ts holds no "${part}"`);
  writeFileSync(file, before.replace(part, by));
};
