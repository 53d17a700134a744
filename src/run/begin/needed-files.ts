// Decides which listed files of a table have to be loaded, by its mode of publishing and the file state.
//
// The files are judged in the batches in which they are listed, and only those that are needed are kept: a table may have a
// hundred thousand, of which one is new.

import {
  goneFiles,
  knownVersions,
  rowsOfOthers,
  type FilesOf,
  type KnownVersion,
} from '../../checkpoint/published-files.ts';
import type { Extent, PartSpec, SourceTableSpec } from '../../declaration.ts';
import { isThere, type Client } from '../../db/client.ts';
import { mayHaveRows } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import { EtlError } from '../../errors.ts';
import { modeOf, takesParts } from '../../publish/tables.ts';
import { takeNew } from './new-files.ts';
import { takesAll, Tally, type Judging, type Sieve } from './sieve.ts';
import { plural } from '../../wording.ts';

/** Whether there is a table in production that has rows. */
export const isFilled = async (
  client: Client,
  { schema, table }: Pick<FilesOf, 'schema' | 'table'>,
): Promise<boolean> => {
  const name = quoteName(schema, table);
  return (await isThere(client, name)) && mayHaveRows(client, name);
};

/** Whether the newest run published the table without rows; a table that somebody emptied had some. */
const wasLeftEmpty = async (client: Client, { schema, table }: FilesOf): Promise<boolean> => {
  const { rows } = await client.query(
    `select rows = 0 as "isEmpty" from etl.published_table
      where table_oid = to_regclass($1) order by run_id desc limit 1`,
    [quoteName(schema, table)],
  );
  return rows[0]?.isEmpty ?? false;
};

/** Whether production has the rows of files that were loaded before. */
const hasOthers = async (client: Client, of: FilesOf): Promise<boolean> =>
  (await isFilled(client, of)) || wasLeftEmpty(client, of);

/** A run loads a part of the files only if production has the rows of the others. */
const extentOf = async (
  { client, isFullRefresh }: Judging,
  { publish }: SourceTableSpec,
  of: FilesOf,
): Promise<Extent> =>
  !takesParts(modeOf(publish)) || isFullRefresh || !(await hasOthers(client, of)) ? 'whole' : 'part';

/** Refuses a full refresh that would lose rows: those of files that are no longer listed, or of no file. */
const refuseLoss = async (
  { client, spec, allowShrink }: Judging,
  { publish }: SourceTableSpec,
  of: FilesOf,
  listed: readonly number[],
): Promise<void> => {
  const { table } = of;
  if (modeOf(publish) === 'replace' || allowShrink.includes(table) || !(await isFilled(client, of))) return;
  if (typeof publish !== 'string' && publish.mode === 'history' && publish.at === undefined)
    throw new EtlError('ETL_ROWS_LOST', { table, problem: 'versions whose times are those of earlier runs' });
  const others = await rowsOfOthers(client, of, listed);
  if (others.files > 0)
    throw new EtlError('ETL_ROWS_LOST', {
      table,
      problem: `${plural(others.rows, 'row')} of ${plural(others.files, 'file')} that it does not list, such as ${others.first}`,
    });
  const { rows } = await client.query(
    `select exists (select from etl.published_table where table_oid = to_regclass($1) and strategy not in ('append', 'merge', 'history')) as "isOurs"`,
    [quoteName(spec.schema, table)],
  );
  if (!rows[0].isOurs)
    throw new EtlError('ETL_ROWS_LOST', { table, problem: 'rows of no file: no run has made the table' });
};

/** Whether production lacks the rows of the file as it is now. */
const isOther = ({ isSame, isPartial, isCorrected, isUnloaded }: KnownVersion): boolean =>
  !isSame || isPartial || isCorrected || isUnloaded;

/** All files are loaded; they are compared only to know whether there is anything to do. */
const takeAll = async (judging: Judging, table: SourceTableSpec, of: FilesOf): Promise<Sieve> => {
  const { client, isFullRefresh } = judging;
  const listed: number[] = [];
  let files = 0;
  const [added, changed, missing] = [new Tally(), new Tally(), new Tally()];
  return {
    take: async (batch) => {
      const known = new Map((await knownVersions(client, of, batch)).map((one) => [one.place, one]));
      files += batch.length;
      for (const [place, { name }] of batch.entries()) {
        const version = known.get(place);
        if (version === undefined) added.add(name);
        else if (isOther(version)) changed.add(name);
        if (version !== undefined) listed.push(version.id);
      }
      return [...batch.keys()];
    },
    end: async () => {
      const isAppended = modeOf(table.publish) !== 'replace';
      if (isAppended && isFullRefresh) await refuseLoss(judging, table, of, listed);
      for (const { name } of await goneFiles(client, of, listed)) missing.add(name);
      const hasWork = isAppended || added.count + changed.count + missing.count > 0;
      const unchanged = files - added.count - changed.count;
      return { ...takesAll, listed: files, added, changed, unchanged, gone: missing, hasWork };
    },
  };
};

/** Judges the files of a table. Errors: ETL_FILE_CHANGED, ETL_ROWS_LOST. */
export const createSieve = async (judging: Judging, table: SourceTableSpec): Promise<Sieve> => {
  const { name: pipeline, schema } = judging.spec;
  const of = { pipeline, schema, table: table.name };
  const extent = await extentOf(judging, table, of);
  return extent === 'whole'
    ? takeAll(judging, table, of)
    : takeNew(judging, table, table.publish as PartSpec, of);
};
