// Has the server sum the rows of production, in one scan of each table.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { ComparedColumn } from './compared-columns.ts';
import { decimalOf, type RowSums } from './row-sums.ts';

/**
 * Settings of the transaction: values are printed as print-value.ts does, writing is forbidden, and
 * row security raises an error instead of hiding rows.
 */
const settings = `set transaction read only; set local row_security = off; set local statement_timeout to default;
  set local datestyle = 'ISO, MDY'; set local timezone = 'UTC'; set local extra_float_digits = 1; set local bytea_output = 'hex'`;

export const readOnly = async (client: Client): Promise<void> => void (await client.query(settings));

/** A text to test that the server's hash equals textHash: on a big-endian server it does not. */
export const hashProbe = 'sluice: Prüfsumme';

export const serverHash = async (client: Client, text: string): Promise<bigint> =>
  BigInt(
    (await client.query('select hashtextextended($1::text collate "C", 0)::text as hash', [text])).rows[0]
      .hash,
  );

/** Returns the names of the table's columns, or undefined if the table does not exist. */
export const columnsThere = async (
  client: Client,
  name: string,
): Promise<ReadonlySet<string> | undefined> => {
  const { rows } = await client.query(
    `select to_regclass($1) is not null as "isThere", (
        select array_agg(attname::text) from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
      ) as columns`,
    [name],
  );
  return rows[0].isThere ? new Set(rows[0].columns ?? []) : undefined;
};

/** Returns SQL that rotates a hash to the left by the index of its column. */
const turned = (hash: string, index: number): string => {
  const by = index % 64;
  const value = `coalesce(${hash}, 0)`;
  return by === 0 ? value : `((${value} << ${by}) | ((${value} >> ${64 - by}) & ${(1n << BigInt(by)) - 1n}))`;
};

const sumsSql = (
  name: string,
  columns: readonly ComparedColumn[],
  fileColumn: string | undefined,
): string => {
  const own = columns.map(({ spec }) => `t.${quoteName(spec.name)}`);
  const hashed = columns.flatMap(({ comparing }, index) => (comparing === 'nulls' ? [] : [index]));
  const hashes = hashed.map((index) => `hashtextextended(${own[index]}::text collate "C", 0) as h${index}`);
  const file = fileColumn === undefined ? 'null::text' : `t.${quoteName(fileColumn)}::text`;
  const sumOf = ({ comparing, spec }: ComparedColumn, index: number): string => {
    if (comparing !== 'numbers') return 'null';
    const finite = `filter (where ${own[index]} not in ('NaN', 'Infinity', '-Infinity'))`;
    return `sum(${own[index]}) ${spec.type === 'numeric' ? finite : ''}`;
  };
  const list = (texts: readonly string[]): string => `array[${texts.join(', ')}]::text[]`;
  return `select ${file} as file, count(*)::float8 as rows,
      ${list(own.map((column) => `count(*) - count(${column})`))} as nulls,
      ${list(columns.map(({ comparing }, index) => (comparing === 'nulls' ? 'null' : `sum(h.h${index})`)))} as hashes,
      ${list(columns.map(sumOf))} as sums,
      coalesce(sum(${hashed.map((index) => turned(`h.h${index}`, index)).join(' # ') || '0::bigint'}), 0)::text as "rowHash"
    from ${name} t${hashed.length === 0 ? '' : `, lateral (select ${hashes.join(', ')} offset 0) h`}
    ${fileColumn === undefined ? '' : 'group by 1'}`;
};

/**
 * Returns the sums of a table: by file id with `fileColumn`, otherwise one entry with the key null.
 *
 * @param columns must exist in the table.
 */
export const productionSums = async (
  client: Client,
  name: string,
  columns: readonly ComparedColumn[],
  fileColumn: string | undefined,
): Promise<ReadonlyMap<string | null, RowSums>> => {
  const { rows } = await client.query(sumsSql(name, columns, fileColumn));
  return new Map(
    rows.map(({ file, rows: count, nulls, hashes, sums, rowHash }) => [
      file,
      {
        rows: count,
        rowHash: BigInt(rowHash),
        columns: columns.map(({ comparing }, index) => ({
          nulls: Number(nulls[index]),
          hash: comparing === 'nulls' ? null : BigInt(hashes[index] ?? 0),
          sum: comparing === 'numbers' ? decimalOf(sums[index]) : null,
        })),
      },
    ]),
  );
};
