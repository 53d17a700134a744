// SQL that computes all versions of the keys in a run from its records and the existing versions.

import { quoteName, quoteNames } from '../../../db/sql.ts';
import { isDeletion, lineageOf } from '../merge/merge-sql.ts';
import { mergeColumns } from '../../../db/names.ts';
import type { VersionTimes } from '../../table/meaning.ts';
import type { DeclaredTable } from '../../table/tables.ts';

/**
 * Existing versions. `isTouched`: SQL, true for a version `o` whose key is in staging; missing:
 * all.
 */
export interface Existing {
  readonly rows: string;
  readonly isTouched?: string;
}

/** Compared columns. A change of key, times or lineage alone makes no new version. */
export const comparedColumns = (table: DeclaredTable, names: readonly string[]): readonly string[] => {
  const { at, to } = table.mode.versions!;
  const others = new Set([...table.primaryKey, at, to, ...lineageOf(table)]);
  return names.filter((name) => !others.has(name));
};

const recordOf = (names: readonly string[]): string => `row(${quoteNames(names)})::record`;

/**
 * SQL for the start of a record's validity. Without a declared column: the start of the run or, if
 * the clock went back, the time after all existing versions.
 */
const timeOf = (versions: VersionTimes, existing: Existing | undefined): string => {
  const [from, to] = [quoteName(versions.from), quoteName(versions.to)];
  if (versions.at !== undefined || existing === undefined) return `n.${from}`;
  return `greatest(n.${from}, (select max(greatest(${from}, ${to})) + interval '1 microsecond' from _etl_there))`;
};

/**
 * SQL for all versions of the keys in staging. Each start of a record or version is an event, and
 * so is each end of a version. Of records at the same time, the last one is used. `names`: columns
 * of a version, with or without `to`.
 */
export const selectVersions = (
  table: DeclaredTable,
  names: readonly string[],
  staging: string,
  existing?: Existing,
): string => {
  const versions = table.mode.versions!;
  const { from, to } = versions;
  const [f, t] = [quoteName(from), quoteName(to)];
  const key = quoteNames(table.primaryKey.filter((name) => name !== from));
  const others = names.filter((name) => name !== from && name !== to);
  const list = (alias: string): string => others.map((name) => `${alias}.${quoteName(name)}`).join(', ');
  const versionColumns = names.flatMap((name) => (name === from ? [from, to] : name === to ? [] : [name]));
  const compared = comparedColumns(table, names);
  const differs =
    compared.length === 0 ? 'false' : `${recordOf(compared)} operator(pg_catalog.*<>) _etl_before`;
  const { file, line } = mergeColumns;
  const there =
    existing === undefined
      ? ''
      : `_etl_there as ${existing.isTouched === undefined ? 'not materialized' : ''}
          (select o.* from ${existing.rows} o where ${existing.isTouched ?? 'true'}),`;
  const events =
    existing === undefined
      ? ''
      : `union all select ${list('o')}, o.${f}, false, 1, 0, 0 from _etl_there o
        union all select ${list('o')}, o.${t}, true, 0, 0, 0 from _etl_there o where o.${t} is not null`;
  const time = timeOf(versions, existing);
  const before = compared.length === 0 ? '' : `, lag(${recordOf(compared)}) over by_time as _etl_before`;
  return `with ${there} _etl_event as (
      select ${list('n')}, ${time} as ${f}, ${isDeletion(table.mode, 'n')} as _etl_ends, 2 as _etl_rank,
          s.ordinal as _etl_ordinal, n.${quoteName(line)} as _etl_at_line
        from ${staging} n join etl.source_file s on s.id = n.${quoteName(file)}
      ${events}
    ), _etl_last as (
      select distinct on (${key}, ${f}) * from _etl_event
        order by ${key}, ${f}, _etl_rank desc, _etl_ordinal desc, _etl_at_line desc
    ), _etl_told as (
      select *, lag(_etl_ends) over by_time as _etl_ended${before} from _etl_last window by_time as (partition by ${key} order by ${f})
    ), _etl_version as (
      select *, lead(${f}) over (partition by ${key} order by ${f}) as ${t} from _etl_told
        where case when _etl_ends then not coalesce(_etl_ended, true) else coalesce(_etl_ended, true) or ${differs} end
    )
    select ${quoteNames(versionColumns)} from _etl_version where not _etl_ends`;
};
