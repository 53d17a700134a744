// Which of the files that a table lists have to be loaded, as its mode of publishing and the file state say.
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
import type { NewFile } from '../../checkpoint/ledger.ts';
import type { AppendSpec, Extent, SourceTableSpec } from '../../declaration.ts';
import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { EtlError } from '../../errors.ts';
import type { Outgoing } from '../../publish/names.ts';
import { modeOf, modes } from '../../publish/registry.ts';
import { plural } from '../../wording.ts';
import type { Looking } from '../context.ts';
import type { RunSettings } from '../options.ts';

/** What a run brings to a table, and takes from it. */
export interface Intake {
  readonly extent: Extent;
  /** Files that are listed, and those of them that production has not, or has in another version. */
  readonly listed: number;
  readonly added: number;
  readonly changed: number;
  readonly outgoing: Outgoing;
  /** Whether production is not yet what files and mode say. */
  readonly hasWork: boolean;
}

/** Judges the files of a table as they are listed. */
export interface Sieve {
  /** Places of those that are needed. */
  readonly take: (files: readonly Omit<NewFile, 'ordinal'>[]) => Promise<readonly number[]>;
  readonly end: () => Promise<Intake>;
}

/** What it takes to judge them. */
export interface Judging
  extends Pick<Looking, 'client' | 'spec' | 'report'>, Pick<RunSettings, 'allowShrink'> {
  /** Everything is loaded again. */
  readonly fullRefresh: boolean;
}

/** How many files a message names. */
const namedMax = 5;

/** Counts files, and remembers the names of the first. */
class Tally {
  count = 0;
  readonly names: string[] = [];

  add(name: string): void {
    this.count += 1;
    if (this.names.length < namedMax) this.names.push(name);
  }

  text(): string {
    const more = this.count > this.names.length ? ', …' : '';
    return `${plural(this.count, 'file')}: ${this.names.join(', ')}${more}`;
  }
}

const hasRows = async (client: Client, { schema, table }: FilesOf): Promise<boolean> => {
  const name = quoteName(schema, table);
  const { rows } = await client.query('select to_regclass($1) is not null as "isThere"', [name]);
  if (!rows[0].isThere) return false;
  return (await client.query(`select exists (select from ${name}) as "hasRows"`)).rows[0].hasRows;
};

/** A run brings some files only to a table that has the others. */
const extentOf = async (
  { client, fullRefresh }: Judging,
  { publish }: SourceTableSpec,
  of: FilesOf,
): Promise<Extent> =>
  modes[modeOf(publish)].part === undefined || fullRefresh || !(await hasRows(client, of)) ? 'whole' : 'part';

/** Refuses to take rows away that would not come back: of files that are no longer listed, or of no file. */
const refuseLoss = async (
  { client, spec, allowShrink }: Judging,
  { publish }: SourceTableSpec,
  of: FilesOf,
  listed: readonly number[],
): Promise<void> => {
  const { table } = of;
  if (modeOf(publish) === 'replace' || allowShrink.includes(table) || !(await hasRows(client, of))) return;
  const others = await rowsOfOthers(client, of, listed);
  if (others.files > 0)
    throw new EtlError('ETL_ROWS_LOST', {
      table,
      problem: `${plural(others.rows, 'row')} of ${plural(others.files, 'file')} that it does not list, such as ${others.first}`,
    });
  const { rows } = await client.query(
    `select exists (select from etl.published_table where table_oid = to_regclass($1) and strategy <> 'append') as "isOurs"`,
    [quoteName(spec.schema, table)],
  );
  if (!rows[0].isOurs)
    throw new EtlError('ETL_ROWS_LOST', { table, problem: 'rows of no file: no run has made the table' });
};

const noneOutgoing: Outgoing = { files: [], rows: 0 };

/** All files are loaded; they are compared only to know whether there is anything to do. */
const takeAll = async (judging: Judging, table: SourceTableSpec, of: FilesOf): Promise<Sieve> => {
  const { client, fullRefresh } = judging;
  const listed: number[] = [];
  let [files, added, changed] = [0, 0, 0];
  return {
    take: async (batch) => {
      const known = await knownVersions(client, of, batch);
      listed.push(...known.map(({ id }) => id));
      files += batch.length;
      added += batch.length - known.length;
      changed += known.filter(
        ({ isSame, isCorrected, isUnloaded }) => !isSame || isCorrected || isUnloaded,
      ).length;
      return [...batch.keys()];
    },
    end: async () => {
      const isAppended = modeOf(table.publish) !== 'replace';
      if (isAppended && fullRefresh) await refuseLoss(judging, table, of, listed);
      const gone = (await goneFiles(client, of, listed)).length;
      const hasWork = isAppended || added + changed + gone > 0;
      return { extent: 'whole', listed: files, added, changed, outgoing: noneOutgoing, hasWork };
    },
  };
};

/** Only files that production has not are loaded, and those that are to be loaded again. */
const takeNew = ({ client, report }: Judging, publish: AppendSpec, of: FilesOf): Sieve => {
  const { table } = of;
  const listed: number[] = [];
  /** Rows by file: two locations may list the same one. */
  const leaving = new Map<number, number>();
  const [changed, corrected] = [new Tally(), new Tally()];
  let [files, added, again] = [0, 0, 0];

  const isNeeded = (known: KnownVersion): boolean => {
    const { id, name, rows, isSame, isCorrected, isUnloaded } = known;
    if (isSame && (isUnloaded || !isCorrected)) return false;
    if (publish.changed === 'reload') {
      leaving.set(id, rows);
      again += 1;
      return true;
    }
    if (!isUnloaded) (isSame ? corrected : changed).add(name);
    return false;
  };
  const reportLeft = (): void => {
    if (changed.count > 0 && publish.changed === 'error')
      throw new EtlError('ETL_FILE_CHANGED', { table, files: changed.text() });
    const tell = (message: string): void => report.emit({ type: 'notice', message: `${table}: ${message}` });
    if (changed.count > 0)
      tell(`left as they were when they were loaded, though they have changed: ${changed.text()}`);
    if (corrected.count > 0)
      tell(
        `corrections of records of files in production are loaded with changed: 'reload' only: ${corrected.text()}`,
      );
  };
  return {
    take: async (batch) => {
      const known = new Map((await knownVersions(client, of, batch)).map((one) => [one.place, one]));
      files += batch.length;
      return [...batch.keys()].filter((place) => {
        const version = known.get(place);
        if (version !== undefined) listed.push(version.id);
        else added += 1;
        return version === undefined || isNeeded(version);
      });
    },
    end: async () => {
      reportLeft();
      if (publish.gone === 'unload')
        for (const { id, rows } of await goneFiles(client, of, listed)) leaving.set(id, rows);
      const outgoing = {
        files: [...leaving.keys()],
        rows: [...leaving.values()].reduce((sum, rows) => sum + rows, 0),
      };
      const hasWork = added + leaving.size > 0;
      return { extent: 'part', listed: files, added, changed: again, outgoing, hasWork };
    },
  };
};

/** Judges the files of a table. Errors: ETL_FILE_CHANGED, ETL_ROWS_LOST. */
export const createSieve = async (judging: Judging, table: SourceTableSpec): Promise<Sieve> => {
  const { name: pipeline, schema } = judging.spec;
  const of = { pipeline, schema, table: table.name };
  const extent = await extentOf(judging, table, of);
  return extent === 'whole' ? takeAll(judging, table, of) : takeNew(judging, table.publish as AppendSpec, of);
};

/** When nothing is known of what is in production. */
export const takeEverything = (): Sieve => {
  let files = 0;
  return {
    take: async (batch) => {
      files += batch.length;
      return [...batch.keys()];
    },
    end: async () => ({
      extent: 'whole',
      listed: files,
      added: files,
      changed: 0,
      outgoing: noneOutgoing,
      hasWork: true,
    }),
  };
};
