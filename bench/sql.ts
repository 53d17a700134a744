// Where scripts work, and what rows are compared by.

import type { BenchServer } from './server.ts';

/** Where the psql scripts and the plain script work; `etl run` has a schema of its own. */
export const scriptSchema = 'bench_script';

/** The rows that every job makes, with their types. */
const typedColumns = [
  ['wban', 'text'],
  ['observed_at', 'timestamp'],
  ['sky', 'text'],
  ['visibility', 'real'],
  ['weather', 'text'],
  ['dry_bulb', 'real'],
  ['wet_bulb', 'real'],
  ['dew_point', 'real'],
  ['humidity', 'smallint'],
  ['wind_speed', 'smallint'],
  ['wind_direction', 'smallint'],
  ['pressure', 'real'],
  ['rain', 'numeric(5,2)'],
  ['altimeter', 'real'],
] as const;

/** Statement that makes the table of the typed rows. */
export const createTypedTable = (kind: 'table' | 'unlogged table'): string =>
  `create ${kind} ${scriptSchema}.observation (${typedColumns.map((words) => words.join(' ')).join(', ')})`;

/** Rows and a sum over all their values that does not depend on their order. */
export const digestOf = async ({ query }: BenchServer, rows: string): Promise<string> => {
  const [found] = await query(
    `select count(*) || ' rows, checksum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) as digest from (${rows}) r`,
  );
  return String(found!['digest']);
};

/** Checksum of each column alone, to name those that differ. */
export const columnDigests = async (
  { query }: BenchServer,
  rows: string,
): Promise<Readonly<Record<string, unknown>>> => {
  const [sample = {}] = await query(`select * from (${rows}) r limit 1`);
  const sums = Object.keys(sample).map(
    (name) => `sum(hashtextextended(coalesce("${name}"::text, 'null'), 0))::text as "${name}"`,
  );
  const [found = {}] = await query(`select ${sums.join(', ')} from (${rows}) r`);
  return found;
};
