// Decides which listed files of a table have to be loaded. Works in batches and keeps only the
// needed files in memory, because of a hundred thousand files only one may be new.

import {
  countFiles,
  goneFiles,
  ownFilesOf,
  recordedFiles,
  type FilesOf,
  type KnownVersion,
} from '../../ledger/production/published-files.ts';
import { publicationsOf } from '../../ledger/production/published-tables.ts';
import type { Extent, SourceTableSpec } from '../../core/declaration.ts';
import type { Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { isFilled } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import type { Holder } from './held-files.ts';
import { Sightings } from './moves.ts';
import { takeNew } from './new-files.ts';
import { refuseLoss } from './refuse-loss.ts';
import { CountedFiles } from './counted.ts';
import { takesAll, type BasisFound, type Judging, type Sieve } from './sieve.ts';

/** True if the newest run left the table empty, or a person made it and no run has published it. */
const isRightlyEmpty = async (client: Client, { schema, table }: FilesOf): Promise<boolean> => {
  const { rows } = await client.query(
    `select coalesce(
        (select rows = 0 from etl.published_table where table_oid = to_regclass($1) order by published_at desc, run_id desc limit 1),
        to_regclass($1) is not null
          and not exists (select from etl.published_table where schema_name = $2 and table_name = $3)) as "isRightly"`,
    [quoteName(schema, table), schema, table],
  );
  return rows[0].isRightly;
};

type FoundBasis = BasisFound & { readonly extent: Extent };

/**
 * Returns true if rows are added to production's table: it has rows, or is empty though nobody has
 * emptied it. Otherwise a new table takes its place.
 */
export const hasOthers = async (client: Client, of: FilesOf): Promise<boolean> =>
  (await isFilled(client, quoteName(of.schema, of.table))) || isRightlyEmpty(client, of);

/**
 * Finds what production has. Starts again if another run published meanwhile, because files that
 * had lost their rows may have rows now.
 */
const findBasis = async (judging: Judging, of: FilesOf): Promise<FoundBasis> => {
  const { client, isFullRefresh } = judging;
  const read = async () => (await publicationsOf(client, of.schema, [of.table])).get(of.table)!;
  const publications = await read();
  const own = await ownFilesOf(client, of);
  const extent: Extent = isFullRefresh || !(await hasOthers(client, of)) ? 'whole' : 'part';
  const stale = extent === 'whole' && !isFullRefresh ? await recordedFiles(client, of) : [];
  const found = { extent, publications, own, stale, isFullRefresh };
  if (stale.length === 0) return found;
  return (await read()) === publications ? found : findBasis(judging, of);
};

const isOther = ({ isSame, isPartial, isCorrected, isUnloaded }: KnownVersion): boolean =>
  !isSame || isPartial || isCorrected || isUnloaded;

/**
 * Loads all files. Compares them with production only to tell whether the run has anything to do.
 */
const takeAll = async (
  judging: Judging,
  table: SourceTableSpec,
  of: FilesOf,
  holder: Holder,
  basis?: BasisFound,
): Promise<Sieve> => {
  const { client, isFullRefresh } = judging;
  const { takesParts } = meaningOf(table.publish);
  const seen = new Sightings();
  let files = 0;
  let there: Promise<number> | undefined;
  /** Asks only if there are any: production has more files than are listed, or may have. */
  const gone = async () =>
    !takesParts && (await there) === new Set(seen.listed).size ? [] : goneFiles(client, of, seen.listed);
  const [added, changed, missing] = [new CountedFiles(), new CountedFiles(), new CountedFiles()];
  return {
    take: async (batch) => {
      // A file that is held back counts as gone: no row of it is published.
      const places = [...batch.keys()].filter((place) => !holder.holds(batch[place]!));
      const fit = places.map((place) => batch[place]!);
      files += fit.length;
      const [versions] = await askTogether(client, () => [
        seen.see(client, of, fit),
        (there ??= countFiles(client, of)),
      ]);
      for (const [index, version] of versions.entries())
        if (version === undefined) added.add(fit[index]!.name);
        else if (isOther(version)) changed.add(fit[index]!.name);
      return places;
    },
    end: async () => {
      // The rows of a moved file are loaded again under its new name, so the file counts as listed.
      if (takesParts) await seen.moves(client, of, table);
      const judged = { listed: seen.listed, said: new Set<string>() };
      if (takesParts && isFullRefresh) await refuseLoss(judging, table, of, judged);
      for (const { name } of await gone()) missing.add(name);
      const hasWork = takesParts || added.count + changed.count + missing.count > 0;
      const unchanged = files - added.count - changed.count;
      return {
        ...takesAll,
        listed: files,
        added,
        changed,
        unchanged,
        gone: missing,
        hasWork,
        ...(basis && { basis: { ...basis, ...judged } }),
      };
    },
  };
};

/** Decides which files of a table are loaded. Errors: ETL_FILE_CHANGED, ETL_ROWS_LOST. */
export const createSieve = async (
  judging: Judging,
  table: SourceTableSpec,
  holder: Holder,
): Promise<Sieve> => {
  const { name: pipeline, schema } = judging.spec;
  const of = { pipeline, schema, table: table.name };
  if (!meaningOf(table.publish).takesParts) return takeAll(judging, table, of, holder);
  const { extent, ...basis } = await findBasis(judging, of);
  if (extent === 'whole') return takeAll(judging, table, of, holder, basis);
  return takeNew(judging, table, of, holder, basis);
};
