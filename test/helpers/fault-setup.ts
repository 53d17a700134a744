// Prepares a run of the fault tests: a compiled copy of this checkout, a server that may be killed, files to load, and
// what undisturbed runs make of them.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbedded, stopEmbedded } from '../../src/db/embedded/server.ts';
import { compileCopy } from './compiled-copy.ts';
import { faultServerSettings } from './fault-server.ts';
import { databaseUrlOf, withDatabase } from './fault-database.ts';
import { outcomeOf, type Outcome } from './fault-outcome.ts';
import { loadDirectly, writeFaultFiles } from './fault-files.ts';
import { smallChunks } from './fault-points.ts';

/** Files to load, and what they must come to. */
export interface FaultData {
  /** Working directory of `etl run pipelines/noaa.ts`. */
  readonly directory: string;
  readonly chunkBytes: number;
  readonly outcome: Outcome;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of etl.mjs in the compiled copy. */
    faultProgram: string;
    /** The `.etl` directory of the server. */
    faultServer: string;
    /** About 2 MB: quick to load. */
    smallData: FaultData;
    /** The same files, loaded without staging. */
    directData: FaultData;
    /** About 29 MB, 200,000 records in 20 chunks and more. */
    largeData: FaultData;
  }
}

/** Loads the files once, undisturbed and straight, and keeps what came of it. */
const prepareData = async (
  serverUrl: string,
  program: string,
  directory: string,
  size: { records: number; files: number; chunkBytes: number },
  edit: (directory: string) => void = () => undefined,
): Promise<FaultData> => {
  writeFaultFiles(directory, size.records, size.files);
  edit(directory);
  const outcome = await withDatabase(serverUrl, async (database) => {
    const args = ['run', 'pipelines/noaa.ts', '--workers', '2', '--chunk-bytes', String(size.chunkBytes)];
    const env = { ...process.env, DATABASE_URL: databaseUrlOf(serverUrl, database), ETL_QUIET: '1' };
    execFileSync(process.execPath, [program, ...args], { cwd: directory, env });
    return outcomeOf(databaseUrlOf(serverUrl, database));
  });
  if (outcome.counts.chunks < smallChunks) throw new Error(`only ${outcome.counts.chunks} chunks`);
  return { directory, chunkBytes: size.chunkBytes, outcome };
};

/** Called by Vitest once; what it returns is called at the end, also when tests failed. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-fault-'));
  // As root the server runs as another user, who must be able to get here.
  chmodSync(directory, 0o755);
  const etlDirectory = join(directory, '.etl');
  const remove = async (): Promise<void> => {
    await stopEmbedded(etlDirectory);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const program = compileCopy(join(directory, 'checkout'));
    const { url } = await startEmbedded(etlDirectory, { settings: faultServerSettings });
    project.provide('faultProgram', program);
    project.provide('faultServer', etlDirectory);
    const small = { records: 12_000, files: 4, chunkBytes: 60_000 };
    project.provide('smallData', await prepareData(url, program, join(directory, 'small'), small));
    project.provide(
      'directData',
      await prepareData(url, program, join(directory, 'direct'), small, loadDirectly),
    );
    const large = { records: 200_000, files: 4, chunkBytes: 1_200_000 };
    project.provide('largeData', await prepareData(url, program, join(directory, 'large'), large));
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
};
