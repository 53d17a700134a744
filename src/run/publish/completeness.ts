// Proves from the ledger that all records were loaded, and checks the number of rejects.

import { fileTotals, type FileTotals, type TableTotals } from '../../ledger/run/ledger.ts';
import { stagingTable } from '../../db/staging.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { countRows } from '../../db/rows.ts';
import { EtlError, codeOf } from '../../core/errors/errors.ts';
import type { Counts } from '../../core/model.ts';
import { checkCopied } from '../../publish/aside/build-table.ts';
import {
  faultKinds,
  isOverLimit,
  kindLines,
  limitExceeded,
  type Limited,
} from '../../ledger/rejects/store.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import { sharedKeys } from '../name-records.ts';
import { asList, formatCount, plural } from '../../core/wording.ts';
import type { RunContext, Work } from '../context.ts';
import { stopSignal } from '../../core/stop.ts';
import { FilesHeld, type HoldsBack } from '../../load/files-held.ts';
import { addCounts, countsOfTable, noCounts } from '../../core/counts.ts';

const sourceTables = ({ spec }: Work): readonly SourceTableSpec[] =>
  spec.tables.filter((table) => table.kind === 'source');

/** Number of fault kinds that an error shows, each with an example; etl.reject has all. */
const kindsShown = 5;

/**
 * Fails if a table or the whole run has too many rejects, and shows examples, also of records that
 * share a key, so that all faults of a file can be corrected at once. Errors: ETL_REJECT_LIMIT.
 */
export const checkRejects = async (context: RunContext, runId: number): Promise<void> => {
  const { client, spec } = context;
  const totals = await fileTotals(client, runId);
  const ofRun: Limited[] = spec.rejectLimit === undefined ? [] : [{ rejectLimit: spec.rejectLimit }];
  for (const limited of [...sourceTables(context), ...ofRun]) {
    const { name, rejectLimit } = limited;
    const files = totals.filter(({ table }) => name === undefined || table === name);
    const { rejected, records } = files.reduce<Counts>(addCounts, noCounts);
    if (!isOverLimit(rejectLimit, rejected, records)) continue;
    const kinds = kindLines(await faultKinds(client, runId, name ?? null, kindsShown));
    const keys: string[] = [];
    for (const table of sourceTables(context).filter((one) => name === undefined || one.name === name)) {
      // The error about rejects must not be replaced by one of looking further.
      const shared = await sharedKeys(context, runId, table).catch(() => undefined);
      if (shared !== undefined) keys.push(name === undefined ? `table ${table.name}: ${shared}` : shared);
    }
    const examples = `${kinds}${asList(keys)}`;
    // A load that was stopped has not read all records.
    const extent = files.every(({ covered }) => covered) ? '' : ' read so far';
    throw limitExceeded(runId, limited, { rejected, records, extent, examples });
  }
};

/**
 * Fails if a file has changed since the run was planned. Errors: ETL_SOURCE_CHANGED; FilesHeld if
 * that holds back only the changed files.
 */
export const checkSources = async (
  context: RunContext,
  runId: number,
  holdsBack: HoldsBack,
): Promise<void> => {
  const { client } = context;
  const signal = stopSignal(context);
  const tables = new Map(sourceTables(context).map((table) => [table.name, table]));
  const looks = new Map<string, Promise<string | undefined>>();
  const fingerprintOf = (file: FileTotals): Promise<string | undefined> =>
    sourceNamed(file.source)
      .look(file, { declared: tables.get(file.table)!.readings[file.reading]!.source, signal })
      .then(
        ({ fingerprint }) => fingerprint,
        (cause: unknown) => {
          if (['ENOENT', 'ETL_SOURCE_GONE'].includes(codeOf(cause) ?? '')) return undefined;
          throw cause;
        },
      );
  const bad = new Map<FileTotals, EtlError>();
  await withFilesAtOnce(await fileTotals(client, runId), async (file) => {
    const { table, name, source, location, fingerprint } = file;
    // An archive with many members is looked up only once.
    const key = JSON.stringify([table, source, location]);
    const look = looks.get(key) ?? fingerprintOf(file);
    looks.set(key, look);
    if ((await look) === fingerprint) return;
    const error = new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
    if (!holdsBack(file, error)) throw error;
    bad.set(file, error);
  });
  if (bad.size > 0) throw new FilesHeld(bad);
};

export interface Complete {
  /**
   * Rows copied into each typed table. Text tables are left out, because their SQL may drop rows.
   */
  readonly copied: ReadonlyMap<string, number>;
  readonly totals: readonly TableTotals[];
}

const tableTotals = (totals: readonly FileTotals[], table: string): TableTotals => {
  const files = totals.filter((file) => file.table === table);
  const sum = (key: 'bytes' | 'bytesRead'): number => files.reduce((total, file) => total + file[key], 0);
  return {
    table,
    files: files.length,
    bytes: sum('bytes'),
    bytesRead: sum('bytesRead'),
    ...countsOfTable(files, table),
  };
};

/**
 * Proves that every byte of every file is accounted for. Call this in the publishing transaction.
 * Errors: ETL_INCOMPLETE.
 */
export const checkComplete = async (context: Work, runId: number): Promise<Complete> => {
  const { client, spec } = context;
  const totals = await fileTotals(client, runId);
  const incomplete = (table: string, problem: string): EtlError =>
    new EtlError('ETL_INCOMPLETE', { table, problem });
  for (const { table, name, covered, records, copied, rejected, filtered } of totals) {
    if (!covered) throw incomplete(table, `${name} is not loaded to its end`);
    if (records !== copied + rejected + filtered)
      throw incomplete(
        table,
        `${name}: ${plural(records, 'record')} read, but ${formatCount(copied)} copied + ${formatCount(rejected)} rejected + ${formatCount(filtered)} filtered`,
      );
  }
  const typed = new Map<string, number>();
  const sums = sourceTables(context).map(({ name }) => tableTotals(totals, name));
  for (const [place, { name, staging }] of sourceTables(context).entries()) {
    const { copied } = sums[place]!;
    if (staging === 'text') checkCopied(name, copied, await countRows(client, stagingTable(spec.name, name)));
    else typed.set(name, copied);
  }
  return { copied: typed, totals: sums.filter(({ files }) => files > 0) };
};
