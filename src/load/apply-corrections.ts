// Loads corrections of rejected records in the place of those records. A correction is a record of RFC 4180 that is checked like any
// record of its file; the transaction that loads it takes the reject away and changes the counts, so each is loaded once.

import { ok as assert } from 'node:assert';
import {
  correctionsByTable,
  exchangeRejects,
  outdatedCorrections,
  selectCorrections,
  type Correction,
  type CorrectionOutcome,
} from '../ledger/rejects/corrections.ts';
import { judgeLoading, selectLoading } from '../ledger/run/epoch.ts';
import { runQuery, withTransaction } from '../db/client.ts';
import { storable } from '../db/sql.ts';
import { tableOfFile, type RejectLimit, type SourceTableSpec } from '../core/declaration/declaration.ts';
import type { Decoder } from '../format/rows/decoder.ts';
import type { RecordBlock } from '../format/split/record-blocks.ts';
import { recordAt } from '../format/rows/record-judge.ts';
import { correctedDialect, csvRecord } from '../format/records/record-fields.ts';
import type { Reject, SourceFile } from '../core/model.ts';
import { formatCount, plural } from '../core/wording.ts';
import { stopIfAsked } from '../core/stop.ts';
import { landingTable } from '../db/landing.ts';
import { createAttempts, tryCopy } from './chunk/attempts.ts';
import { refusalOf } from './chunk/load-carefully.ts';
import type { LoadingRun, LoadWork } from './loading-run.ts';
import { createTableLoad, type TableLoad } from './chunk/table-load.ts';

/** Corrections of one transaction: memory holds them as fields and as rows, and a record may have two megabytes. */
const correctionsAtOnce = 100;

/** Files that a notice names. */
const filesShown = 5;

/** A corrected record as a block of its own, at the place of the one that it corrects. */
const blockOf = (
  { fields, byte, line, record }: Correction,
  file: SourceFile,
  { splitterFor }: TableLoad,
): RecordBlock => {
  const bytes = Buffer.from(csvRecord(fields, '\n'));
  const spans = splitterFor(file).split(bytes, true);
  assert(spans.starts.length === 1, 'a correction is one record');
  return { bytes, spans, position: { byte, line, record }, fileBytes: bytes.length };
};

/** How the corrections of a file are loaded. */
interface FileCorrections {
  readonly file: SourceFile;
  readonly how: TableLoad;
  readonly decode: Decoder;
}

/** A corrected record, its outcome, and its row if it has one. */
interface Judged {
  readonly correction: Correction;
  readonly how: TableLoad;
  readonly block: RecordBlock;
  readonly row: Buffer | undefined;
  readonly fault: Reject | undefined;
}

const outcomeOf = ({ correction, row, fault }: Judged): CorrectionOutcome => {
  const { fromFile, fromLine } = correction;
  if (fault === undefined)
    return {
      correction,
      outcome: row === undefined ? 'filtered' : 'copied',
      column: null,
      code: null,
      reason: null,
    };
  const { column, code, reason, others } = fault;
  const more = others === undefined ? '' : ` (and ${plural(others.count, 'more fault')})`;
  return {
    correction,
    outcome: 'rejected',
    column,
    code,
    reason: storable(`${fromFile}:${fromLine}: ${reason}${more}`),
  };
};

/** Copies the rows of files that are loaded in the same way; rows that the server refuses become faults. */
const copyRows = async (
  context: LoadWork,
  { landing }: TableLoad,
  judged: readonly Judged[],
): Promise<readonly Judged[]> => {
  const load = {
    client: context.client,
    landing,
    breakOff: context.abort ?? new AbortController().signal,
  };
  const attempts = createAttempts(context.client);
  const rows = judged.flatMap(({ row }) => row ?? []);
  const isRefused = rows.length > 0 && (await tryCopy(load, attempts, Buffer.concat(rows))) !== undefined;
  const copied: Judged[] = [];
  for (const one of isRefused ? judged : []) {
    const refusal = one.row === undefined ? undefined : await tryCopy(load, attempts, one.row);
    copied.push(
      refusal === undefined
        ? one
        : { ...one, row: undefined, fault: { ...refusalOf(landing, refusal), ...recordAt(one.block, 0) } },
    );
  }
  await attempts.end();
  return isRefused ? copied : judged;
};

/** Loads some corrections of a table in one transaction; none when there are no more. */
const applySome = (
  context: LoadWork,
  { lease }: LoadingRun,
  table: string,
  ofFile: (fileId: number) => FileCorrections,
): Promise<readonly CorrectionOutcome[]> => {
  const { client } = context;
  const judge = (correction: Correction): Judged => {
    const { file, how, decode } = ofFile(correction.fileId);
    const block = blockOf(correction, file, how);
    const { copyBytes, counts, rejects } = decode(block);
    return {
      correction,
      how,
      block,
      row: counts.copied > 0 ? Buffer.from(copyBytes) : undefined,
      fault: rejects[0],
    };
  };
  return withTransaction(
    client,
    async ([loading, found]) => {
      await judgeLoading(client, lease, loading!);
      if (found!.rows.length === 0) return [];
      const groups = new Map<string, Judged[]>();
      for (const one of (found!.rows as Correction[]).map(judge)) {
        const { copyStatement } = one.how.landing;
        const group = groups.get(copyStatement);
        if (group === undefined) groups.set(copyStatement, [one]);
        else group.push(one);
      }
      const outcomes: CorrectionOutcome[] = [];
      for (const group of groups.values())
        outcomes.push(...(await copyRows(context, group[0]!.how, group)).map(outcomeOf));
      await runQuery(client, exchangeRejects(lease.epoch, outcomes));
      return outcomes;
    },
    { first: [selectLoading(lease), selectCorrections(lease.runId, table, correctionsAtOnce)] },
  );
};

const sayApplied = (
  { report }: LoadWork,
  table: string,
  outcomes: ReadonlyMap<CorrectionOutcome['outcome'], number>,
): void => {
  const counts = [...outcomes].map(([outcome, count]) => `${formatCount(count)} ${outcome}`);
  if (counts.length > 0)
    report.emit({
      type: 'notice',
      message: `table ${table}: corrections of rejected records: ${counts.join(', ')}`,
    });
};

/**
 * Loads every correction that the run knows and has not tried, in the place of its reject. Records are copied, filtered or
 * rejected as before, and add up as before.
 */
export const applyCorrections = async (context: LoadWork, run: LoadingRun): Promise<void> => {
  const { client, spec } = context;
  const corrected = await correctionsByTable(client, run.lease.runId);
  for (const { table, staging } of run.planned.filter((one) => corrected.has(one.table.name))) {
    const known = new Map<number, FileCorrections>();
    const ofFile = (fileId: number): FileCorrections => {
      const found = known.get(fileId);
      if (found !== undefined) return found;
      const file: SourceFile = { ...run.files.find(({ id }) => id === fileId)!, lineEnd: 'lf' };
      const declared = tableOfFile(table, file);
      const format = { ...declared.format, dialect: correctedDialect(declared.format.dialect) };
      const how = createTableLoad(landingTable(spec, table), { ...declared, format }, staging);
      const made = { file, how, decode: how.decoderFor(file) };
      known.set(fileId, made);
      return made;
    };
    const outcomes = new Map<CorrectionOutcome['outcome'], number>();
    for (;;) {
      stopIfAsked(context);
      const some = await applySome(context, run, table.name, ofFile);
      if (some.length === 0) break;
      for (const { outcome } of some) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    sayApplied(context, table.name, outcomes);
  }
};

/** Reports corrections that belong to another version of their file. */
export const sayOutdated = async ({ client, report }: LoadWork, { lease }: LoadingRun): Promise<void> => {
  for (const { file, corrections } of await outdatedCorrections(client, lease.runId, filesShown))
    report.emit({
      type: 'notice',
      message: `${file} has changed since ${plural(corrections, 'record')} of it were corrected: the corrections are not used`,
    });
};

const raised = (limit: RejectLimit, by: number): RejectLimit =>
  limit.kind === 'count' ? { kind: 'count', records: limit.records + by } : limit;

/**
 * The run with limits under which it goes on while rejects are found that are corrected later. Those that are left are judged
 * under the limits that were declared.
 */
export const withRoomForCorrections = async (
  context: LoadWork,
  run: LoadingRun,
): Promise<{ readonly context: LoadWork; readonly run: LoadingRun }> => {
  const corrected = await correctionsByTable(context.client, run.lease.runId);
  if (corrected.size === 0) return { context, run };
  const raise = (table: SourceTableSpec): SourceTableSpec => ({
    ...table,
    rejectLimit: raised(table.rejectLimit, corrected.get(table.name) ?? 0),
  });
  const all = [...corrected.values()].reduce((sum, count) => sum + count, 0);
  const { rejectLimit } = context.spec;
  return {
    context: { ...context, spec: { ...context.spec, rejectLimit: rejectLimit && raised(rejectLimit, all) } },
    run: { ...run, planned: run.planned.map((one) => ({ ...one, table: raise(one.table) })) },
  };
};
