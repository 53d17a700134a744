// What the page costs after years of loads: the time of every page with a bookkeeping of 50,000 runs, and the memory of `etl ui`.
//
//   npm run bench:page [-- --runs 50000 --chunks 5000000 --largest 50000 --rejects 1000000 --rounds 5 --check]

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withClient } from '../src/db/client.ts';
import { addressFromUrl } from '../src/db/connect/address.ts';
import { migrate } from '../src/db/bookkeeping/migrate.ts';
import { historySteps, type HistorySize } from './long-history.ts';
import { median } from './measure.ts';
import { treeSeconds } from './processes.ts';
import { withServer, type BenchServer } from './server.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50000' },
    chunks: { type: 'string', default: '5000000' },
    largest: { type: 'string', default: '50000' },
    rejects: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    check: { type: 'boolean', default: false },
  },
});
const size: HistorySize = {
  runs: Number(values.runs),
  chunks: Number(values.chunks),
  largest: Number(values.largest),
  rejects: Number(values.rejects),
};
const rounds = Number(values.rounds);

/** Milliseconds that a page may take, and how often all pages are opened before the second look at the memory. */
const millisecondsMax = 200;
const visits = 20;

/** Every page, and those of its forms that take other queries. The last two runs are the largest: one is under way, one is published. */
const pagesOf = ({ runs }: HistorySize): readonly string[] => [
  '/',
  '/runs',
  '/runs?pipeline=pipeline_3',
  '/runs?state=failed',
  `/runs/${runs}`,
  `/runs/${runs - 1}`,
  `/runs/${runs - 1}?by=worker&map=160`,
  `/runs/${runs - 2}`,
  '/rejects',
  `/rejects?run=${runs - 1}`,
  `/rejects?run=${runs - 1}&table=fact`,
  `/rejects?run=${runs - 1}&table=fact&code=not_a_date&column=day`,
  `/rejects?run=${runs - 1}&code=no_such_code`,
  '/files',
  '/files?pipeline=pipeline_3',
  '/schedules',
  '/queue',
];

interface PageProcess {
  readonly origin: string;
  readonly cookie: string;
  readonly pid: number;
  readonly child: ChildProcess;
}

/** Starts the compiled `etl ui`, and opens its address as a browser does. */
const startPage = async ({ url }: BenchServer): Promise<PageProcess> => {
  const program = fileURLToPath(new URL('../src/cli/etl.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, 'ui'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const answer = await fetch(address, { redirect: 'manual' });
  const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? [];
  return { origin: new URL(address).origin, cookie, pid: child.pid!, child };
};

interface Visit {
  readonly milliseconds: number;
  readonly bytes: number;
}

/** One request, with the whole of its answer. */
const visit = async ({ origin, cookie }: PageProcess, path: string): Promise<Visit> => {
  const start = performance.now();
  const answer = await fetch(origin + path, { headers: { cookie } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} is answered by ${answer.status}: ${text.slice(0, 2_000)}`);
  return { milliseconds: performance.now() - start, bytes: text.length };
};

const residentMegabytes = (pid: number): number => {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
};

const fill = async ({ url, query }: BenchServer): Promise<void> => {
  await withClient(addressFromUrl(url), (client) => migrate(client));
  const start = performance.now();
  for (const { sql } of historySteps(size)) await query(sql);
  const [counts] = await query(
    `select (select count(*) from etl.run) as runs, (select count(*) from etl.source_file) as files,
      (select count(*) from etl.chunk) as chunks, (select count(*) from etl.reject) as rejects,
      round(pg_database_size(current_database()) / 1e6) as megabytes`,
  );
  console.log(`filled in ${((performance.now() - start) / 1000).toFixed(0)} s:`, counts);
};

/** Opens every page; gives those that are too slow. CPU is that of the page and the server: it says more on a busy machine. */
const measurePages = async (page: PageProcess, { pid }: BenchServer): Promise<readonly string[]> => {
  const slow: string[] = [];
  for (const path of pagesOf(size)) {
    const all: Visit[] = [];
    const cpu = (): number => treeSeconds(page.pid) + treeSeconds(pid);
    const before = cpu();
    for (let round = 0; round < rounds; round += 1) all.push(await visit(page, path));
    const milliseconds = ((cpu() - before) * 1000) / rounds;
    const times = all.map((each) => each.milliseconds);
    const middle = median(times);
    if (middle > millisecondsMax) slow.push(path);
    const shown = [
      `CPU ${milliseconds.toFixed(0)} ms`,
      `first ${times[0]!.toFixed(0)}`,
      `${(all[0]!.bytes / 1000).toFixed(0)} kB`,
    ];
    console.log(`${path.padEnd(34)} ${middle.toFixed(0).padStart(5)} ms`, ...shown);
  }
  return slow;
};

const measureMemory = async (page: PageProcess): Promise<void> => {
  const before = residentMegabytes(page.pid);
  for (let round = 0; round < visits; round += 1) for (const path of pagesOf(size)) await visit(page, path);
  const after = residentMegabytes(page.pid);
  console.log(
    `resident: ${before.toFixed(0)} MB, after ${visits} more visits of every page ${after.toFixed(0)} MB`,
  );
};

await withServer(async (server) => {
  await fill(server);
  const page = await startPage(server);
  try {
    const slow = await measurePages(page, server);
    await measureMemory(page);
    console.log(`slower than ${millisecondsMax} ms: ${slow.join(', ') || 'none'}`);
    if (values.check && slow.length > 0) process.exitCode = 1;
  } finally {
    page.child.kill();
    await once(page.child, 'exit');
  }
});
