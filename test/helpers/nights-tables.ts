// The tables of the simulation of nights: what is declared, what people make on them, and what is in production.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './fault-database.ts';
import { anchors, type Sale } from './nights-feed.ts';
import type { NightMode } from './nights-modes.ts';

const columns = ['seq', 'id', 'day', 'pieces', 'at', 'gone'];
const columnsWith = (hasNote: boolean): readonly string[] => (hasNote ? [...columns, 'note'] : columns);

/** SQL of the derived table `total`: whole, or of the days that a night touches. */
export const writeTotals = (directory: string): void => {
  writeFileSync(
    join(directory, 'touched.sql'),
    `select day, count(seq)::int as sales, coalesce(sum(pieces), 0)::int as pieces
      from (select day from sale_new union select day from sale_old) d left join sale using (day) group by day`,
  );
  writeFileSync(
    join(directory, 'total.sql'),
    'select day, count(*)::int as sales, sum(pieces)::int as pieces from sale group by day',
  );
};

/**
 * Writes the definition of the pipeline that reads files of this directory; a process imports a file once, so that each has a name of its
 * own.
 */
export const declare = (
  directory: string,
  { name, options, key, columns: more = '', isTotalMerged = false }: NightMode,
  hasNote: boolean,
  source = name,
): string => {
  const file = `pipelines/${source}${hasNote ? '-with-note' : ''}.ts`;
  writeFileSync(
    join(directory, file),
    `import { column, csv, definePipeline, hash, list, oneOf, range, sqlFile } from 'sluice';
export default definePipeline({
  name: '${source.replaceAll('-', '_')}',
  schema: '${name}',
  snapshotWaitMs: 200,
  tables: {
    sale: {
      source: csv('${source}/*.csv', { settle: 0, onBadFile: 'stop' }),
      missing: 'null',
      columns: {
        seq: column.integer('seq'),
        id: column.integer('id'),
        day: column.date('day'),
        pieces: column.integer('pieces'),
        at: column.integer('at'),
        gone: column.boolean('gone', { true: ['y'], false: ['n'] }),
        ${more}
        ${hasNote ? `note: column.text('note').nullable(),` : ''}
      },
      primaryKey: [${key.map((column) => `'${column}'`).join(', ')}],
      guard: false,
      copies: 'load',
      ${options},
    },
    total: {
      from: ['sale'],
      transform: sqlFile('../${isTotalMerged ? 'touched' : 'total'}.sql'),
      publish: '${isTotalMerged ? 'merge' : 'replace'}',
      primaryKey: ['day'],
      guard: false,
    },
  },
});
`,
  );
  return file;
};

/** What people make on the tables once they are there. */
export const dependentsOf = ({ name, key, ownKey = key, dependents }: NightMode): string => `
  create view ${name}.seen as select day, pieces from ${name}.sale;
  grant select on ${name}.seen, ${name}.sale to pg_monitor;
  create index by_hand on ${name}.sale (pieces);
  ${
    dependents === 'views'
      ? ''
      : `create table ${name}.visit as select distinct on (${key.join()}) ${ownKey.join()} from ${name}.sale
           where ${key[0]!} <= ${anchors} order by ${ownKey.join()};
         alter table ${name}.visit add foreign key (${ownKey.join()}) references ${name}.sale;`
  }`;

/** Whether all of that is still there. */
export const keepsDependents = async (
  url: string,
  { name, ownKey, key, dependents }: NightMode,
): Promise<boolean> => {
  const [row] = await ask<{ isKept: boolean }>(
    url,
    `select has_table_privilege('pg_monitor', '${name}.seen', 'select') and has_table_privilege('pg_monitor', '${name}.sale', 'select')
        and (select indisvalid from pg_index where indexrelid = '${name}.by_hand'::regclass and indrelid = '${name}.sale'::regclass)
        and ${dependents === 'views' ? 'true' : `exists (select from pg_constraint where convalidated and conrelid = '${name}.visit'::regclass and confrelid = '${name}.sale'::regclass) and exists (select from ${name}.visit) and not exists (select from ${name}.visit left join ${name}.sale using (${(ownKey ?? key).join()}) where seq is null)`} as "isKept"`,
  );
  return row!.isKept;
};

/** What `stateSql` of nights-reader.ts says when these are in production. */
export const stateOf = ({ dependents }: NightMode, sales: readonly Sale[]): string => {
  const sum = (of: (sale: Sale) => number): number => sales.reduce((all, sale) => all + of(sale), 0);
  const both = `${sales.length} ${sum(({ pieces }) => pieces)}`;
  return `${both}, ${both} ${sum(({ seq }) => seq)}${dependents === 'none' ? '' : `, seen ${both}`}`;
};

/** Rows as `production` has them. */
export const texts = (sales: readonly Sale[], hasNote: boolean): string[] =>
  sales
    .map(({ seq, id, day, pieces, at, gone, note, valid = [] }) =>
      [seq, id, day, pieces, at, gone, ...(hasNote ? [note ?? ''] : []), ...valid].join(),
    )
    .sort();

export const production = async (
  url: string,
  { name: schema, valid }: NightMode,
  hasNote: boolean,
): Promise<string[]> => {
  const own = valid === undefined ? [] : valid.split(', ');
  const list = [...columnsWith(hasNote), ...own].map((name) => `coalesce((${name})::text, '')`);
  const rows = await ask<{ row: string }>(
    url,
    `select concat_ws(',', ${list.join(', ')}) as row from ${schema}.sale`,
  );
  return rows.map(({ row }) => row).sort();
};
