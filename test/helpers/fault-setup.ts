// Prepares a run of the fault tests: a compiled copy of this checkout, files to load, and what undisturbed runs make of them.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { compileCopy } from './compiled-copy.ts';
import { databaseUrlOf, serverSettings, withDatabase } from './fault-database.ts';
import { outcomeOf, type Outcome } from './fault-outcome.ts';
import {
  fillBucket,
  loadDirectly,
  packFiles,
  serveFiles,
  shortenStations,
  writeFaultFiles,
} from './fault-files.ts';
import { smallChunks } from './fault-points.ts';
import { startHttpFiles } from './http-files.ts';
import { startOwnServer } from './own-server.ts';
import { startS3 } from './s3.ts';

const run = promisify(execFile);

/** Files to load, and what they must come to. */
export interface FaultData {
  /** Working directory of `etl run pipelines/noaa.ts`. */
  readonly directory: string;
  readonly chunkBytes: number;
  readonly outcome: Outcome;
}

interface Size {
  readonly records: number;
  readonly files: number;
  readonly chunkBytes: number;
  /** Chunks that a test counts on. */
  readonly chunks: number;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of etl.mjs in the compiled copy. */
    faultProgram: string;
    /** About 2 MB: quick to load. */
    smallData: FaultData;
    /** As little as a run loads over its own connection: four files, each a chunk. */
    briefData: FaultData;
    /** The small files, loaded without staging. */
    directData: FaultData;
    /** One file with the records of the small ones, which all workers load: in gzip, over HTTP that cuts connections. */
    httpData: FaultData;
    /** The same file as an object of a bucket. */
    bucketData: FaultData;
    /** The same two in two chunks, and few stations. */
    tinyHttpData: FaultData;
    tinyBucketData: FaultData;
    /** About 29 MB, 200,000 records in 20 chunks and more. */
    largeData: FaultData;
    /** The same files, in gzip, zip and zstd. */
    packedData: FaultData;
  }
}

/** Loads the files once, undisturbed and straight, and keeps what came of it. */
const prepareData = async (
  serverUrl: string,
  program: string,
  directory: string,
  size: Size,
  edit: (directory: string) => void = () => undefined,
): Promise<FaultData> => {
  writeFaultFiles(directory, size.records, size.files);
  edit(directory);
  const outcome = await withDatabase(serverUrl, async (database) => {
    const args = ['run', 'pipelines/noaa.ts', '--workers', '2', '--chunk-bytes', String(size.chunkBytes)];
    const env = { ...process.env, DATABASE_URL: databaseUrlOf(serverUrl, database), ETL_QUIET: '1' };
    // This process serves files meanwhile.
    await run(process.execPath, [program, ...args], { cwd: directory, env });
    return outcomeOf(databaseUrlOf(serverUrl, database));
  });
  if (outcome.counts.chunks < size.chunks) throw new Error(`only ${outcome.counts.chunks} chunks`);
  return { directory, chunkBytes: size.chunkBytes, outcome };
};

/** Called by Vitest once; what it returns is called at the end, also when tests failed. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-fault-'));
  const files = await startHttpFiles();
  const objects = await startS3();
  const remove = async (): Promise<void> => {
    await files.close();
    await objects.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const program = compileCopy(join(directory, 'checkout'));
    project.provide('faultProgram', program);
    const small: Size = { records: 12_000, files: 4, chunkBytes: 60_000, chunks: smallChunks };
    const stream: Size = { ...small, files: 1 };
    const tiny: Size = { records: 900, files: 1, chunkBytes: 70_000, chunks: 3 };
    const brief: Size = { records: 900, files: 3, chunkBytes: 32 * 1024 * 1024, chunks: 4 };
    const large: Size = { records: 200_000, files: 4, chunkBytes: 1_200_000, chunks: smallChunks };
    const { server, remove: removeServer } = await startOwnServer(serverSettings);
    const prepare = (name: string, size: Size, edit?: (directory: string) => void) =>
      prepareData(server.url, program, join(directory, name), size, edit);
    try {
      project.provide('smallData', await prepare('small', small));
      project.provide('briefData', await prepare('brief', brief));
      project.provide('directData', await prepare('direct', small, loadDirectly));
      project.provide('httpData', await prepare('http', stream, serveFiles(files, '/small', 60_000)));
      project.provide('bucketData', await prepare('bucket', stream, fillBucket(objects, 'small')));
      const serve = serveFiles(files, '/tiny', 15_000);
      const fill = fillBucket(objects, 'tiny');
      project.provide('tinyHttpData', await prepare('tiny-http', tiny, shortenStations(serve)));
      project.provide('tinyBucketData', await prepare('tiny-bucket', tiny, shortenStations(fill)));
      project.provide('largeData', await prepare('large', large));
      project.provide('packedData', await prepare('packed', large, packFiles));
    } finally {
      await removeServer();
    }
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
};
