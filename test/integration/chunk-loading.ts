// Prepares one file for loadChunk as a run would: ledger, staging, decoder; over a connection of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentEpoch } from '../../src/ledger/run/epoch.ts';
import { advanceRun, insertFiles, insertRun } from '../../src/ledger/run/ledger.ts';
import { createStaging, stagingTable } from '../../src/db/staging.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { tryLockPipeline } from '../../src/db/session/advisory-lock.ts';
import { runQuery, withClient, type Client } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { tableOfFile, type FilterSpec } from '../../src/core/declaration.ts';
import { rejectsPerChunkMax } from '../../src/core/limits.ts';
import type { Counts, Position, SourceFile } from '../../src/core/model.ts';
import { bindPipeline } from '../../src/pipeline/bind.ts';
import { csv, type CsvOptions } from '../../src/pipeline/declare/csv.ts';
import { definePipeline, type Pipeline } from '../../src/pipeline/define-pipeline.ts';
import { sqlFile } from '../../src/pipeline/declare/sql-file.ts';
import type { ChunkLoad } from '../../src/load/chunk/chunk.ts';
import { landingTable } from '../../src/db/landing.ts';
import { loadChunk } from '../../src/load/chunk/load-chunk.ts';
import { writeSettled } from '../helpers/settled.ts';
import { planSources } from '../../src/run/files/plan-sources.ts';
import { openSegment } from '../../src/load/chunk/block-source.ts';
import { createFileReader } from '../../src/load/chunk/file-reader.ts';

export interface ChunkFile {
  /** A file of the project, or the content of one. */
  readonly path?: string;
  readonly content?: string | Buffer;
  readonly options?: CsvOptions;
  /** Typed columns; without them, text staging. */
  readonly columns?: object;
  readonly filter?: FilterSpec | readonly FilterSpec[];
  readonly chunkBytes?: number;
  readonly rejectsMax?: number;
}

interface PreparedFile {
  /** Whose lock the client holds. */
  readonly pipeline: string;
  readonly client: Client;
  readonly load: ChunkLoad;
  readonly file: SourceFile;
  readonly staging: string;
  /** Sum of the counts that the load reported as decoded. */
  readonly reported: () => Counts & { readonly bytes: number };
}

const planIn = async (
  directory: string,
  { path, content, options = {}, columns, filter = [] }: ChunkFile,
) => {
  if (content !== undefined) writeSettled(join(directory, 'a.csv'), content);
  const source = csv(path ?? join(directory, 'a.csv'), options);
  const table =
    columns === undefined
      ? { source, staging: 'text', transform: sqlFile('none.sql') }
      : { source, columns, filter };
  // Every file has a pipeline of its own, so that staging tables do not meet.
  const name = `p${process.hrtime.bigint()}`;
  const pipeline = definePipeline({ name, schema: 's', tables: { t: table } } as never) as Pipeline;
  const spec = bindPipeline(pipeline, { directory });
  const [planned] = await planSources(spec, { workingDirectory: process.cwd() });
  return { spec, planned: planned! };
};

const prepare = async (client: Client, directory: string, given: ChunkFile): Promise<PreparedFile> => {
  const { spec, planned } = await planIn(directory, given);
  await migrate(client);
  await tryLockPipeline(client, spec.name);
  await runQuery(client, createStaging(spec.name, 't', planned.staging));
  const epoch = await currentEpoch(client);
  const hashes = { isFullRefresh: false, definitionHash: '', tableHashes: {}, stagedHashes: {}, formats: {} };
  const run = {
    pipeline: spec.name,
    params: {},
    pinnedParams: {},
    queue: 'default',
    workers: 1,
    host: '',
    directory: '',
    pid: 1,
    job: undefined,
    epoch,
    ...hashes,
  };
  const runId = Number((await runQuery(client, insertRun(run))).rows[0].id);
  await runQuery(client, advanceRun(runId, 'loading'));
  const id = Number((await runQuery(client, insertFiles({ id: runId }, planned.files))).rows[0].id);
  const file = { ...planned.files[0]!, id, runId, runStarted: '2026-01-01 00:00:00+00' };
  const table = tableOfFile(planned.table, file);
  const reader = createFileReader(file, table, planned.staging, landingTable(spec, planned.table));
  const reported = { bytes: 0, records: 0, copied: 0, rejected: 0, filtered: 0 };
  const load: ChunkLoad = {
    client,
    file,
    reader,
    source: openSegment({
      file,
      access: { declared: table.source },
      start: startOf(file),
      byteEnd: file.dataEnd,
      splitter: reader.splitter,
      chunkBytes: given.chunkBytes ?? 1024 * 1024,
    }),
    lease: { runId, epoch, generation: 1 },
    rejectsMax: given.rejectsMax ?? rejectsPerChunkMax,
    breakOff: new AbortController().signal,
    listener: {
      decoded: (bytes, counts) => {
        reported.bytes += bytes;
        for (const key of ['records', 'copied', 'rejected', 'filtered'] as const)
          reported[key] += counts[key];
      },
    },
  };
  return {
    pipeline: spec.name,
    client,
    load,
    file,
    staging: stagingTable(spec.name, 't'),
    reported: () => reported,
  };
};

/** Prepares a file for the length of `use`. */
export const withChunkFile = async (
  databaseUrl: string,
  given: ChunkFile,
  use: (prepared: PreparedFile) => Promise<void>,
): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-chunk-'));
  try {
    await withClient(addressFromUrl(databaseUrl), async (client) =>
      use(await prepare(client, directory, given)),
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

export const startOf = ({ dataByte, dataLine }: SourceFile): Position => ({
  byte: dataByte,
  line: dataLine,
  record: 1,
});

/** Loads every chunk of the file; returns their number. */
export const loadAll = async ({ load, file }: PreparedFile): Promise<number> => {
  let chunks = 0;
  for (let at = startOf(file); at.byte < file.bytes; chunks += 1) at = (await loadChunk(load, at)).end;
  return chunks;
};

/** Rows of staging in the order in which they were copied. */
export const stagingRows = async ({ client, staging }: PreparedFile): Promise<unknown[][]> =>
  (await client.query({ text: `select * from ${staging}`, rowMode: 'array' })).rows;

/** Rejects of the file, in its order. */
export const rejectsOf = async ({ client, file }: PreparedFile) =>
  (
    await client.query(
      `select line::int, record::int, byte::int, column_name as column, code, reason, raw
       from etl.reject where file_id = $1 order by byte`,
      [file.id],
    )
  ).rows;
