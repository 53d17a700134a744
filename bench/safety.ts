// What checkpoints cost: the same blocks of the same file through loadChunk (ledger, epoch, rejects, a transaction a
// chunk) and through one bare COPY, alternating on one server. Prints medians and their ratio.
//
//   npm run bench:safety [-- --records 1000000 --rounds 5]

import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentEpoch } from '../src/ledger/run/epoch.ts';
import { advanceRun, insertFiles, insertRun } from '../src/ledger/run/ledger.ts';
import { copyIn } from '../src/load/chunk/copy-in.ts';
import { createStaging, stagingTable } from '../src/db/staging.ts';
import { addressFromUrl } from '../src/db/connect/address.ts';
import { tryLockPipeline } from '../src/db/session/advisory-lock.ts';
import { runQuery, withClient, withTransaction, type Client } from '../src/db/client.ts';
import { startEmbedded, stopEmbedded } from '../src/db/embedded/server.ts';
import { migrate } from '../src/db/bookkeeping/migrate.ts';
import { chunkBytesDefault, rejectsPerChunkMax } from '../src/core/limits.ts';
import type { Position, SourceFile } from '../src/core/model.ts';
import { tableOfFile } from '../src/core/declaration.ts';
import { bindPipeline } from '../src/pipeline/bind.ts';
import { chunkBlocks, decodeRows, emptyChunk, type ChunkLoad } from '../src/load/chunk/chunk.ts';
import { landingTable } from '../src/db/landing.ts';
import { loadChunk } from '../src/load/chunk/load-chunk.ts';
import { planSources } from '../src/run/files/plan-sources.ts';
import { openSegment } from '../src/load/chunk/block-source.ts';
import { createFileReader } from '../src/load/chunk/file-reader.ts';
import { csv, definePipeline, sqlFile } from '../src/index.ts';
import { writeNoaaFiles } from '../test/helpers/noaa-files.ts';
import { accessWith } from '../test/helpers/source-access.ts';
import { median } from './measure.ts';

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
});
const records = Number(values.records);
const rounds = Number(values.rounds);

const pipeline = definePipeline({
  name: 'safety',
  schema: 'safety',
  tables: {
    t: { source: csv('data/noaa/*hourly.txt'), staging: 'text', transform: sqlFile('unused.sql') },
  },
});

/** Everything that a load needs, on an empty staging table. */
const prepare = async (client: Client, directory: string): Promise<ChunkLoad> => {
  const spec = bindPipeline(pipeline, { directory });
  const [planned] = await planSources(spec, { workingDirectory: directory });
  const { table, files, staging } = planned!;
  const epoch = await currentEpoch(client);
  const run = {
    pipeline: 'safety',
    params: {},
    pinnedParams: {},
    queue: 'default',
    host: '',
    pid: 1,
    workers: 1,
    isFullRefresh: false,
    directory: '',
    definitionHash: '',
    tableHashes: {},
    stagedHashes: {},
    formats: {},
    epoch,
  };
  const runId: number = (await runQuery(client, insertRun(run))).rows[0].id;
  await runQuery(client, advanceRun(runId, 'loading'));
  const id = Number((await runQuery(client, insertFiles({ id: runId }, files))).rows[0].id);
  const file: SourceFile = { ...files[0]!, id, runId, runStarted: '2026-01-01 00:00:00+00' };
  await client.query(`drop table if exists ${stagingTable('safety', 't')}`);
  await runQuery(client, createStaging('safety', 't', staging));
  const reader = createFileReader(file, tableOfFile(table, file), staging, landingTable(spec, table));
  const { splitter } = reader;
  const start = startOf({ file });
  return {
    client,
    file,
    reader,
    source: openSegment({
      file,
      access,
      start,
      byteEnd: file.bytes,
      splitter,
      chunkBytes: chunkBytesDefault,
    }),
    lease: { runId: file.runId, epoch, generation: 1 },
    rejectsMax: rejectsPerChunkMax,
    breakOff: new AbortController().signal,
    listener: { decoded: () => undefined },
  };
};

const access = accessWith();

const startOf = ({ file }: Pick<ChunkLoad, 'file'>): Position => ({
  byte: file.dataByte,
  line: file.dataLine,
  record: 1,
});

const safely = async (load: ChunkLoad): Promise<void> => {
  for (let at = startOf(load); at.byte < load.file.bytes;) at = (await loadChunk(load, at)).end;
};

const barely = (load: ChunkLoad): Promise<void> =>
  withTransaction(load.client, async () => {
    const chunk = emptyChunk(startOf(load));
    async function* bytes(): AsyncGenerator<Buffer, void> {
      const source = { ...load.source, chunkBytes: Infinity };
      for await (const block of chunkBlocks({ ...load, source }, chunk))
        yield decodeRows(load, block, chunk).copyBytes;
    }
    await copyIn(load.client, load.reader.copy.statement, bytes(), load.breakOff);
  });

const timed = async (
  client: Client,
  directory: string,
  work: (load: ChunkLoad) => Promise<void>,
): Promise<number> => {
  const load = await prepare(client, directory);
  const start = performance.now();
  await work(load);
  const seconds = (performance.now() - start) / 1000;
  const { rows } = await client.query(`select count(*)::int as n from ${stagingTable('safety', 't')}`);
  if (rows[0].n !== records) throw new Error(`${rows[0].n} rows instead of ${records}`);
  return seconds;
};

const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
chmodSync(directory, 0o755);
const etlDirectory = join(directory, '.etl');
try {
  writeNoaaFiles(directory, records, 1);
  const server = await startEmbedded(etlDirectory);
  await withClient(addressFromUrl(server.url), async (client) => {
    await migrate(client);
    await tryLockPipeline(client, 'safety');
    const seconds: Record<'safe' | 'bare', number[]> = { safe: [], bare: [] };
    for (let round = 0; round < rounds; round += 1) {
      seconds.bare.push(await timed(client, directory, barely));
      seconds.safe.push(await timed(client, directory, safely));
    }
    const [safe, bare] = [median(seconds.safe), median(seconds.bare)];
    console.log(
      JSON.stringify({ records, rounds, seconds, median: { safe, bare }, ratio: safe / bare }, null, 2),
    );
  });
} finally {
  await stopEmbedded(etlDirectory);
  rmSync(directory, { recursive: true, force: true });
}
