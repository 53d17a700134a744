// Loads the tables of a fuzzed load: in this process, or in one of its own, into which the bytes of one file are piped.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { definePipeline, EtlError, runPipeline, type RunOptions } from 'sluice';
import type { CsvOptions } from '../../src/pipeline/declare/csv.ts';
import { tableAt } from './fuzz-files.ts';
import type { TableScene } from './fuzz-scene.ts';
import { library, typeScriptArgs } from './run-typescript.ts';

/** A table whose files are at their places. */
export interface PlacedTable {
  readonly table: string;
  readonly scene: TableScene;
  readonly locations: readonly string[];
  /** The file with its SQL, when it needs some. */
  readonly sql: string;
  readonly more: Partial<CsvOptions>;
}

/** A load, as a process of its own gets it. */
export interface PipedLoad {
  readonly name: string;
  readonly tables: readonly PlacedTable[];
  readonly run: { readonly workers?: number; readonly chunkBytes?: number };
}

/** What a run says of a table. */
type Loaded = Awaited<ReturnType<typeof runPipeline>>['tables'][number];

/** The product's error. */
export interface LoadError {
  readonly code: string;
  readonly message: string;
}

export type Said = { readonly tables: readonly Loaded[] } | { readonly error: LoadError };

/** The error of the product, or what the run says. */
export const loadHere = async (
  name: string,
  tables: readonly PlacedTable[],
  options: RunOptions,
): Promise<Said> => {
  const declared = tables.map(({ table, scene, locations, sql, more }) => [
    table,
    tableAt(scene, locations, sql, more),
  ]);
  const pipeline = definePipeline({ name, schema: name, tables: Object.fromEntries(declared) as never });
  try {
    return { tables: (await runPipeline(pipeline, { redis: false, ...options })).tables };
  } catch (error) {
    if (error instanceof EtlError) return { error };
    throw error;
  }
};

const program = fileURLToPath(new URL('fuzz-piped.ts', import.meta.url));

/** The same in a process of its own, which gets these bytes; the load is in the file at `path`. */
export const loadPiped = async (path: string, bytes: Buffer, databaseUrl: string): Promise<Said> => {
  const child = spawn(process.execPath, typeScriptArgs(program, [path], library), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  // A run that fails early reads no more.
  child.stdin.on('error', () => undefined);
  child.stdin.end(bytes);
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece));
  const [exit] = (await once(child, 'close')) as [number | null];
  if (exit !== 0) throw new Error(`${path}: exit ${exit}: ${err}`);
  return JSON.parse(out) as Said;
};
