// The transactions of pgbench, "TPC-B (sort of)": by pgbench where there is one, otherwise by a program of ours with the
// same script. Tables are made here, so that both have the same.

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { median, runProgram, typescript } from '../measure.ts';
import { ask, libpqEnvironment, withPg } from './connect.ts';
import { checkpoint, logPosition, schemas, tableKinds, type Kind, type Lab } from './lab.ts';

/** As in pgbench: one branch has so many. */
export const accountsPerBranch = 100_000;
const tellersPerBranch = 10;

const standIn = fileURLToPath(new URL('../programs/tpcb.ts', import.meta.url));

/** Makes the tables of pgbench in the schema of their kind. */
export const makeBank = async (url: string, kind: Kind, scale: number): Promise<void> => {
  const [schema, table] = [schemas[kind], tableKinds[kind]];
  await ask(
    url,
    `create ${table} ${schema}.pgbench_branches (bid int primary key, bbalance int, filler char(88));
    create ${table} ${schema}.pgbench_tellers (tid int primary key, bid int, tbalance int, filler char(84));
    create ${table} ${schema}.pgbench_accounts (aid int primary key, bid int, abalance int, filler char(84));
    create ${table} ${schema}.pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    insert into ${schema}.pgbench_branches select i, 0, '' from generate_series(1, ${scale}) i;
    insert into ${schema}.pgbench_tellers
      select i, (i - 1) / ${tellersPerBranch} + 1, 0, '' from generate_series(1, ${scale * tellersPerBranch}) i;
    insert into ${schema}.pgbench_accounts
      select i, (i - 1) / ${accountsPerBranch} + 1, 0, '' from generate_series(1, ${scale * accountsPerBranch}) i`,
  );
  for (const name of ['branches', 'tellers', 'accounts', 'history'])
    await ask(url, `vacuum analyze ${schema}.pgbench_${name}`);
};

export interface BankOptions {
  readonly kind: Kind;
  readonly clients: number;
  readonly scale: number;
  readonly isPrepared?: boolean;
  readonly synchronousCommit?: 'on' | 'off';
}

export interface BankRun {
  readonly transactionsPerSecond: number;
  readonly logBytesPerTransaction: number;
}

interface Counted {
  readonly transactions: number;
  readonly transactionsPerSecond: number;
}

const withPgbench = async (
  lab: Lab,
  program: string,
  options: BankOptions,
  seconds: number,
): Promise<Counted> => {
  const { kind, clients, isPrepared = false, synchronousCommit = 'on' } = options;
  const settings = `-c search_path=${schemas[kind]} -c synchronous_commit=${synchronousCommit}`;
  const args = [
    '--no-vacuum',
    `--client=${clients}`,
    `--jobs=${Math.min(clients, availableParallelism())}`,
    `--time=${seconds}`,
    `--protocol=${isPrepared ? 'prepared' : 'simple'}`,
  ];
  const env = { ...libpqEnvironment(lab.url), PGOPTIONS: settings };
  const text = (await runProgram(program, args, { env })).join('\n');
  // On a busy machine a second may be too short for any.
  if (text.includes('actually processed: 0\n')) return withPgbench(lab, program, options, 2 * seconds);
  const [, transactions] = /transactions actually processed: (\d+)/.exec(text) ?? [];
  const [, rate] = /tps = ([\d.]+) \((?:without|excluding)/.exec(text) ?? [];
  if (transactions === undefined || rate === undefined) throw new Error(`pgbench said ${text}`);
  return { transactions: Number(transactions), transactionsPerSecond: Number(rate) };
};

const withStandIn = async (lab: Lab, options: BankOptions): Promise<Counted> => {
  const { kind, ...rest } = options;
  const input = JSON.stringify({ ...rest, schema: schemas[kind], seconds: lab.seconds });
  const lines = await runProgram(process.execPath, [...typescript, standIn], {
    env: { DATABASE_URL: lab.url },
    input,
  });
  return JSON.parse(lines.at(-1)!) as Counted;
};

/** Runs the transactions for some seconds. */
const runBank = async (lab: Lab, options: BankOptions): Promise<BankRun> => {
  const position = () => withPg(lab.url, logPosition);
  await withPg(lab.url, checkpoint);
  const before = await position();
  const { pgbench } = lab.tools;
  const { transactions, transactionsPerSecond } = await (pgbench === undefined
    ? withStandIn(lab, options)
    : withPgbench(lab, pgbench, options, Math.ceil(lab.seconds)));
  return { transactionsPerSecond, logBytesPerTransaction: ((await position()) - before) / transactions };
};

/** Runs the transactions of all sides `lab.rounds` times in turns; medians by name. */
export const runBanks = async <Name extends string>(
  lab: Lab,
  sides: Readonly<Record<Name, BankOptions>>,
): Promise<(name: Name) => BankRun> => {
  const names = Object.keys(sides) as Name[];
  const runs = new Map<Name, BankRun[]>(names.map((name) => [name, []]));
  for (let round = 0; round < lab.rounds; round += 1)
    for (const name of names) runs.get(name)!.push(await runBank(lab, sides[name]));
  const medianOf = (name: Name, key: keyof BankRun): number => median(runs.get(name)!.map((run) => run[key]));
  return (name) => ({
    transactionsPerSecond: medianOf(name, 'transactionsPerSecond'),
    logBytesPerTransaction: medianOf(name, 'logBytesPerTransaction'),
  });
};

/** The money that is there is the money that was moved, whatever the tables are. */
export const isBalanced = async (url: string, kind: Kind): Promise<boolean> => {
  const schema = schemas[kind];
  const [row] = await ask(
    url,
    `select (select coalesce(sum(delta), 0) from ${schema}.pgbench_history) =
        (select sum(abalance) from ${schema}.pgbench_accounts) as is_balanced`,
  );
  return row!['is_balanced'] === true;
};

/** Which program does the transactions. */
export const bankProgram = ({ tools }: Lab): string =>
  tools.pgbench === undefined ? 'a program of ours with the script of pgbench' : 'pgbench';
