// Proves from the ledger that all records were loaded, and checks the number of rejects.

import { loadedTotals, type TableTotals } from '../../ledger/run/ledger.ts';
import { stagingTable } from '../../db/staging.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { countRows } from '../../db/rows.ts';
import { EtlError, codeOf } from '../../core/errors/errors.ts';
import type { Counts, SourceFile } from '../../core/model.ts';
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
  const totals = await loadedTotals(client, runId);
  const ofRun: Limited[] = spec.rejectLimit === undefined ? [] : [{ rejectLimit: spec.rejectLimit }];
  for (const limited of [...sourceTables(context), ...ofRun]) {
    const { name, rejectLimit } = limited;
    const own = totals.filter(({ table }) => name === undefined || table === name);
    const { rejected, records } = own.reduce<Counts>(addCounts, noCounts);
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
    const extent = own.every(({ uncovered }) => uncovered === 0) ? '' : ' read so far';
    throw limitExceeded(runId, limited, { rejected, records, extent, examples });
  }
};

/**
 * Fails if one of the run's files has changed since it was planned. Errors: ETL_SOURCE_CHANGED;
 * FilesHeld if that holds back only the changed files.
 */
export const checkSources = async (
  context: RunContext,
  files: readonly SourceFile[],
  holdsBack: HoldsBack,
): Promise<void> => {
  const signal = stopSignal(context);
  const tables = new Map(sourceTables(context).map((table) => [table.name, table]));
  const archives = new Map<string, Promise<string | undefined>>();
  const look = (file: SourceFile): Promise<string | undefined> =>
    sourceNamed(file.source)
      .look(file, { declared: tables.get(file.table)!.readings[file.reading]!.source, signal })
      .then(
        ({ fingerprint }) => fingerprint,
        (cause: unknown) => {
          if (['ENOENT', 'ETL_SOURCE_GONE'].includes(codeOf(cause) ?? '')) return undefined;
          throw cause;
        },
      );
  /** Looks at an archive only once, however many members it has. */
  const lookAtArchive = (file: SourceFile): Promise<string | undefined> => {
    const key = JSON.stringify([file.table, file.source, file.location]);
    const found = archives.get(key) ?? look(file);
    archives.set(key, found);
    return found;
  };
  const bad = new Map<SourceFile, EtlError>();
  await withFilesAtOnce(files, async (file) => {
    const { table, name, member, fingerprint } = file;
    if ((await (member === null ? look(file) : lookAtArchive(file))) === fingerprint) return;
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

/**
 * Proves that every byte of every file is accounted for. Call this in the publishing transaction.
 * Errors: ETL_INCOMPLETE.
 */
export const checkComplete = async (context: Work, runId: number): Promise<Complete> => {
  const { client, spec } = context;
  const totals = await loadedTotals(client, runId);
  const incomplete = (table: string, problem: string): EtlError =>
    new EtlError('ETL_INCOMPLETE', { table, problem });
  for (const { table, faulty } of totals) {
    if (faulty === null) continue;
    const { name, covered, records, copied, rejected, filtered } = faulty;
    throw incomplete(
      table,
      covered
        ? `${name}: ${plural(records, 'record')} read, but ${formatCount(copied)} copied + ${formatCount(rejected)} rejected + ${formatCount(filtered)} filtered`
        : `${name} is not loaded to its end`,
    );
  }
  const typed = new Map<string, number>();
  for (const { name, staging } of sourceTables(context)) {
    const { copied } = countsOfTable(totals, name);
    if (staging === 'text') checkCopied(name, copied, await countRows(client, stagingTable(spec.name, name)));
    else typed.set(name, copied);
  }
  const inOrder = sourceTables(context).flatMap(({ name }) => totals.filter(({ table }) => table === name));
  return { copied: typed, totals: inOrder };
};
