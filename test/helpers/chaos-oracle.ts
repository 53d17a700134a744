// What the tables of a chaos test must hold, computed from their files with csv-parse and nothing of the product, and the
// plain SQL that asks production for the same.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

export interface TableSum {
  readonly rows: number;
  /** Of `amount`, as PostgreSQL writes it. */
  readonly sum: string;
  /** Least and greatest version of the rows: the same, or readers see a mixture. */
  readonly least: number;
  readonly most: number;
}

export interface TableExpected {
  readonly sums: TableSum;
  /** MD5 of all rows in order. */
  readonly checksum: string;
  /** How its records divide; nothing for a table that SQL makes. */
  readonly records?: { readonly copied: number; readonly rejected: number; readonly filtered: number };
}

export type Expected = Readonly<Record<string, TableExpected>>;

interface Item {
  readonly id: number;
  readonly version: number;
  readonly cents: bigint;
  readonly label: string;
}

const decimal = (cents: bigint): string => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;

const summarize = (items: readonly Item[]): Pick<TableExpected, 'sums' | 'checksum'> => {
  const lines = items
    .toSorted((one, other) => one.id - other.id)
    .map(({ id, version, cents, label }) => [id, version, decimal(cents), label].join('|'));
  const versions = items.map(({ version }) => version);
  return {
    sums: {
      rows: items.length,
      sum: decimal(items.reduce((sum, { cents }) => sum + cents, 0n)),
      least: versions.reduce((one, other) => Math.min(one, other)),
      most: versions.reduce((one, other) => Math.max(one, other)),
    },
    checksum: createHash('md5').update(lines.join('\n')).digest('hex'),
  };
};

const readTable = (directory: string, table: string) => {
  const counts = { copied: 0, rejected: 0, filtered: 0 };
  const items: Item[] = [];
  for (const name of readdirSync(directory).filter((each) => each.startsWith(`${table}-`)))
    for (const record of parse<Record<string, string>>(readFileSync(join(directory, name)), {
      columns: true,
    })) {
      const { id = '', version, amount = '', label = '' } = record;
      const isNumber = /^\d+$/.test(id);
      counts[id === '' ? 'filtered' : isNumber ? 'copied' : 'rejected'] += 1;
      if (!isNumber) continue;
      items.push({ id: Number(id), version: Number(version), cents: BigInt(amount.replace('.', '')), label });
    }
  return { items, counts };
};

/** One row for each remainder of `id`. */
const daily = (items: readonly Item[]): readonly Item[] => {
  const days = new Map<number, { cents: bigint; count: number; version: number }>();
  for (const { id, version, cents } of items) {
    const day = days.get(id % 30) ?? { cents: 0n, count: 0, version };
    days.set(id % 30, { version, cents: day.cents + cents, count: day.count + 1 });
  }
  return [...days].map(([id, { cents, count, version }]) => ({ id, version, cents, label: String(count) }));
};

/** What production must hold of the files of a directory. */
export const expectedOf = (directory: string, tables: readonly string[], derivedFrom?: string): Expected => {
  const expected: Record<string, TableExpected> = {};
  for (const table of tables) {
    const { items, counts } = readTable(directory, table);
    expected[table] = { ...summarize(items), records: counts };
    if (table === derivedFrom) expected['daily'] = summarize(daily(items));
  }
  return expected;
};

/** The same of production, in one statement: a row a table. */
export const productionSql = (schema: string, tables: readonly string[], withChecksums: boolean): string => {
  const checksum = withChecksums
    ? `md5(string_agg(concat_ws('|', id, version, amount, label), E'\\n' order by id))`
    : `null`;
  return tables
    .map(
      (table) =>
        `select '${table}' as name, count(*)::int as rows, sum(amount)::text as sum, min(version) as least,
          max(version) as most, ${checksum} as checksum from ${schema}.${table}`,
    )
    .join(' union all ');
};

export interface Seen extends TableSum {
  readonly name: string;
  readonly checksum: string | null;
}

/** How what a reader saw differs from a version; nothing when it does not. */
export const differences = (seen: readonly Seen[], expected: Expected | undefined): readonly string[] => {
  if (expected === undefined) return [`no version has these rows: ${JSON.stringify(seen)}`];
  return seen.flatMap(({ name, checksum, ...sums }) => {
    const wanted = expected[name]!;
    const isSame = JSON.stringify(sums) === JSON.stringify(wanted.sums);
    if (isSame && (checksum === null || checksum === wanted.checksum)) return [];
    return [`${name}: ${JSON.stringify({ ...sums, checksum })}, not ${JSON.stringify(wanted)}`];
  });
};
