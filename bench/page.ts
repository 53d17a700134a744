// What the page costs after years of loads: the time of every page with a bookkeeping of 50,000 runs, and the memory of `etl ui`.
//
//   npm run bench:page [-- --runs 50000 --chunks 5000000 --largest 50000 --rejects 1000000 --rounds 5 --check]
//   npm run bench:page -- --smoke      a small bookkeeping: every page answers, and is small enough

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGunzip, gunzipSync } from 'node:zlib';
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
    smoke: { type: 'boolean', default: false },
  },
});
/** The largest run's pictures and lists are as full as they get. */
const smokeSize: HistorySize = { runs: 200, chunks: 12_000, largest: 5_000, rejects: 5_000 };
const size: HistorySize = values.smoke
  ? smokeSize
  : {
      runs: Number(values.runs),
      chunks: Number(values.chunks),
      largest: Number(values.largest),
      rejects: Number(values.rejects),
    };
const rounds = values.smoke ? 1 : Number(values.rounds);

/** Milliseconds that a page may take, bytes that it may have with its style and scripts, compressed; and how often all pages are opened
 *  before the second look at the memory. */
const millisecondsMax = 200;
const bytesMax = 100_000;
const visits = 20;

/** Every page, and those of its forms that take other queries. The last two runs are the largest: one is under way, one is published. */
const pagesOf = ({ runs }: HistorySize): readonly string[] => [
  '/',
  '/runs',
  '/runs?pipeline=pipeline_3',
  '/runs?state=failed',
  `/runs?older=.${runs}`,
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
  '/actions',
];

/** What a browser loads for the first page. */
const assets = ['/assets/page.css', '/assets/page.js', '/assets/chart.js', '/assets/icon.svg'];

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
  /** As they are sent: compressed. */
  readonly bytes: number;
}

/** One request, with the whole of its answer. */
const visit = async ({ origin, cookie }: PageProcess, path: string): Promise<Visit> => {
  const start = performance.now();
  const sent = get(origin + path, { headers: { cookie, 'accept-encoding': 'gzip' } });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await buffer(answer);
  const milliseconds = performance.now() - start;
  const text = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  if (answer.statusCode !== 200)
    throw new Error(`${path} is answered by ${answer.statusCode}: ${text.toString().slice(0, 2_000)}`);
  return { milliseconds, bytes: body.length };
};

/** The first event of live updates for a visitor who has nothing: as much as one can have. */
const firstEventBytes = async ({ origin, cookie }: PageProcess, path: string): Promise<number> => {
  const address = `${origin}/live?${new URLSearchParams({ path }).toString()}`;
  const sent = get(address, { headers: { cookie, 'accept-encoding': 'gzip' } });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let bytes = 0;
  answer.on('data', (piece: Buffer) => (bytes += piece.length));
  let text = '';
  for await (const piece of answer.pipe(createGunzip())) {
    text += String(piece);
    if (text.endsWith('\n\n')) break;
  }
  sent.destroy();
  console.log(
    `live, all of ${path}: ${(bytes / 1000).toFixed(0)} kB of ${(text.length / 1000).toFixed(0)} kB`,
  );
  return bytes;
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

/** Opens every page; gives those that are too slow, and those that are too large. CPU is that of the page and the server: it says more on a busy machine. */
const measurePages = async (
  page: PageProcess,
  { pid }: BenchServer,
): Promise<Record<'slow' | 'large', readonly string[]>> => {
  const [slow, large]: [string[], string[]] = [[], []];
  const loaded = await Promise.all(assets.map((path) => visit(page, path)));
  const own = loaded.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`style and scripts: ${(own / 1000).toFixed(0)} kB`);
  for (const path of pagesOf(size)) {
    const all: Visit[] = [];
    const cpu = (): number => treeSeconds(page.pid) + treeSeconds(pid);
    const before = cpu();
    for (let round = 0; round < rounds; round += 1) all.push(await visit(page, path));
    const milliseconds = ((cpu() - before) * 1000) / rounds;
    const times = all.map((each) => each.milliseconds);
    const middle = median(times);
    if (middle > millisecondsMax) slow.push(path);
    if (own + Math.max(...all.map(({ bytes }) => bytes)) > bytesMax) large.push(path);
    const shown = [
      `CPU ${milliseconds.toFixed(0)} ms`,
      `first ${times[0]!.toFixed(0)}`,
      `${(all[0]!.bytes / 1000).toFixed(0)} kB`,
    ];
    console.log(`${path.padEnd(34)} ${middle.toFixed(0).padStart(5)} ms`, ...shown);
  }
  if ((await firstEventBytes(page, `/runs/${size.runs - 1}`)) > bytesMax) large.push('/live');
  return { slow, large };
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
    const { slow, large } = await measurePages(page, server);
    console.log(`larger than ${bytesMax / 1000} kB with them, compressed: ${large.join(', ') || 'none'}`);
    if ((values.check || values.smoke) && large.length > 0) process.exitCode = 1;
    if (values.smoke) return;
    await measureMemory(page);
    console.log(`slower than ${millisecondsMax} ms: ${slow.join(', ') || 'none'}`);
    if (values.check && slow.length > 0) process.exitCode = 1;
  } finally {
    page.child.kill();
    await once(page.child, 'exit');
  }
});
