// Other programs that load CSV files into a table of PostgreSQL, where they are installed. None rejects single records.

import { fileURLToPath } from 'node:url';
import type { Bench } from './bench-context.ts';
import type { Side } from './compare.ts';
import { runProgram } from './measure.ts';
import {
  createLogged,
  directScript,
  finishAlone,
  scriptTable,
  scriptTableSide,
  type TableJob,
} from './parts/table.ts';
import { resetScripts } from './sides.ts';
import { digestOf, scriptSchema } from './sql.ts';
import type { Dialect } from '../src/core/dialect.ts';

type Command = readonly [program: string, ...args: readonly string[]];

/** What a peer must know of files and table. */
interface PeerJob {
  readonly url: string;
  readonly schema: string;
  readonly table: string;
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly paths: readonly string[];
  readonly header: boolean;
  readonly delimiter: string;
  /** Empty: quotes are data. */
  readonly quote: string;
  readonly null: string;
}

const python = fileURLToPath(new URL('programs/peer.py', import.meta.url));
const byPython =
  (way: string) =>
  (job: PeerJob): readonly Command[] => [['python3', python, way, JSON.stringify(job)]];

const peers: readonly {
  readonly name: string;
  /** Fails where the peer is not installed. */
  readonly probe: Command;
  readonly commands: (job: PeerJob) => readonly Command[];
}[] = [
  {
    name: 'timescaledb-parallel-copy, 2 workers',
    probe: ['timescaledb-parallel-copy', '--version'],
    commands: ({ url, schema, table, paths, header, delimiter, quote, null: token }) => {
      const copy = ['--split', delimiter, '--copy-options', `CSV NULL '${token}'`];
      const quotes = quote === '"' ? [] : ['--quote', quote || '\u0001'];
      const to = ['--connection', url, '--schema', schema, '--table', table, '--workers', '2'];
      const options = [...to, ...copy, ...quotes, ...(header ? ['--skip-header'] : [])];
      return paths.map((path) => ['timescaledb-parallel-copy', ...options, '--file', path]);
    },
  },
  {
    name: 'DuckDB',
    probe: ['python3', '-c', 'import duckdb'],
    commands: byPython('duckdb'),
  },
  {
    name: 'pyarrow with ADBC',
    probe: ['python3', '-c', 'import pyarrow, adbc_driver_postgresql'],
    commands: byPython('adbc'),
  },
];

const isInstalled = async ([program, ...args]: Command): Promise<boolean> => {
  try {
    await runProgram(program, args);
    return true;
  } catch {
    return false;
  }
};

/** Names and types of the table that a peer fills, in the order of the files' fields. */
const columnsOf = async ({ server, sessions }: Bench, { script }: TableJob) => {
  await server.query(resetScripts);
  await sessions.run(createLogged(script!));
  const rows = await server.query(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = '${scriptTable}'::regclass and attnum > 0 order by attnum`,
  );
  return { names: rows.map(({ name }) => String(name)), types: rows.map(({ type }) => String(type)) };
};

/** Rows and checksum of what a side makes in one turn. */
const digestAfter = async ({ server }: Bench, side: Side): Promise<string> => {
  await server.query(side.reset);
  await side.run();
  return digestOf(server, side.results['rows']!);
};

/** The peers that are installed and make the rows that psql makes. Says on standard output why others are left out. */
export const peerSides = async (
  bench: Bench,
  job: TableJob,
  { header, delimiter, quote, nulls }: Dialect,
): Promise<readonly Side[]> => {
  const { script, files } = job;
  if (script === undefined || script.casts !== undefined) {
    console.log('other programs are left out: they load only what needs no casts');
    return [];
  }
  const table: PeerJob = {
    url: bench.server.url,
    schema: scriptSchema,
    table: 'made',
    ...(await columnsOf(bench, job)),
    paths: files.map(({ path }) => path),
    header: header === true,
    delimiter,
    quote: quote ?? '',
    null: nulls[0] ?? '\u0002',
  };
  const direct = directScript(bench, job);
  const wanted = await digestAfter(bench, direct);
  const fit: Side[] = [];
  for (const { name, probe, commands } of peers) {
    const side = scriptTableSide(
      bench,
      job,
      name,
      direct.name,
      async () => {
        await bench.sessions.run(createLogged(script));
        for (const [program, ...args] of commands(table)) await runProgram(program, args);
      },
      () => bench.sessions.run(finishAlone(script)),
    );
    const problem = !(await isInstalled(probe))
      ? 'is not installed'
      : await digestAfter(bench, side).then(
          (found) => (found === wanted ? undefined : `made other rows: ${found}, psql ${wanted}`),
          (error: unknown) => `failed: ${String(error).trim().split('\n').at(-1)}`,
        );
    if (problem === undefined) fit.push(side);
    else console.log(`${name} ${problem}`);
  }
  await bench.server.query(resetScripts);
  return fit;
};
