// Loads corrections in place of rejected records. The transaction that loads a correction also
// deletes the reject, so each correction is loaded once.

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
import { runQuery, withTransaction, type Client } from '../db/client.ts';
import { storable } from '../db/sql.ts';
import { tableOfFile, type RejectLimit } from '../core/declaration.ts';
import type { RecordBlock } from '../format/records/record-blocks.ts';
import { recordAt } from '../format/rows/record-judge.ts';
import { correctedDialect, csvRecord } from '../format/records/record-fields.ts';
import type { Lease, Reject, SourceFile } from '../core/model.ts';
import { formatCount, plural } from '../core/wording.ts';
import { stopIfAsked, stopSignal } from '../core/stop.ts';
import { createAttempts, tryCopy } from './chunk/attempts.ts';
import { refusalOf } from './chunk/load-carefully.ts';
import { createFileReader, type FileReader } from './chunk/file-reader.ts';
import type { LoadPlan, LoadWork } from './load-plan.ts';

/** Corrections per transaction. Each record may have 2 MB, and so may its row. */
const correctionsAtOnce = 100;

const filesShown = 5;

/** Returns a corrected record as a block of its own, at the position of the rejected record. */
const blockOf = ({ fields, byte, line, record }: Correction, { splitter }: FileReader): RecordBlock => {
  const bytes = Buffer.from(csvRecord(fields, '\n'));
  const spans = splitter.split(bytes, true);
  assert(spans.starts.length === 1, 'a correction is one record');
  return { bytes, spans, position: { byte, line, record }, fileBytes: bytes.length };
};

interface Judged {
  readonly correction: Correction;
  readonly reader: FileReader;
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

const copyRows = async (
  { client, abort }: LoadWork,
  reader: FileReader,
  judged: readonly Judged[],
): Promise<readonly Judged[]> => {
  const load = { client, reader, breakOff: stopSignal({ abort }) };
  const attempts = createAttempts(client);
  const rows = judged.flatMap(({ row }) => row ?? []);
  const isRefused = rows.length > 0 && (await tryCopy(load, attempts, Buffer.concat(rows))) !== undefined;
  const copied: Judged[] = [];
  for (const one of isRefused ? judged : []) {
    const refusal = one.row === undefined ? undefined : await tryCopy(load, attempts, one.row);
    copied.push(
      refusal === undefined
        ? one
        : {
            ...one,
            row: undefined,
            fault: { ...refusalOf(reader.copy, refusal), ...recordAt(one.block, 0) },
          },
    );
  }
  await attempts.end();
  return isRefused ? copied : judged;
};

const applySome = (
  work: LoadWork,
  lease: Lease,
  table: string,
  readerOf: (fileId: number) => FileReader,
): Promise<readonly CorrectionOutcome[]> => {
  const { client } = work;
  const judge = (correction: Correction): Judged => {
    const reader = readerOf(correction.fileId);
    const block = blockOf(correction, reader);
    const { copyBytes, counts, rejects } = reader.decode(block);
    return {
      correction,
      reader,
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
        const { statement } = one.reader.copy;
        const group = groups.get(statement);
        if (group === undefined) groups.set(statement, [one]);
        else group.push(one);
      }
      const outcomes: CorrectionOutcome[] = [];
      for (const group of groups.values())
        outcomes.push(...(await copyRows(work, group[0]!.reader, group)).map(outcomeOf));
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

export const applyCorrections = async (
  work: LoadWork,
  { lease, tables }: LoadPlan,
  files: readonly SourceFile[],
): Promise<void> => {
  const corrected = await correctionsByTable(work.client, lease.runId);
  for (const { table, staging, target } of tables.filter((one) => corrected.has(one.table.name))) {
    const known = new Map<number, FileReader>();
    const readerOf = (fileId: number): FileReader => {
      const found = known.get(fileId);
      if (found !== undefined) return found;
      const file: SourceFile = { ...files.find(({ id }) => id === fileId)!, lineEnd: 'lf' };
      const declared = tableOfFile(table, file);
      const format = { ...declared.format, dialect: correctedDialect(declared.format.dialect) };
      const made = createFileReader(file, { ...declared, format }, staging, target);
      known.set(fileId, made);
      return made;
    };
    const outcomes = new Map<CorrectionOutcome['outcome'], number>();
    for (;;) {
      stopIfAsked(work);
      const some = await applySome(work, lease, table.name, readerOf);
      if (some.length === 0) break;
      for (const { outcome } of some) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    sayApplied(work, table.name, outcomes);
  }
};

export const sayOutdated = async ({ client, report }: LoadWork, { lease }: LoadPlan): Promise<void> => {
  for (const { file, corrections } of await outdatedCorrections(client, lease.runId, filesShown))
    report.emit({
      type: 'notice',
      message: `${file} has changed since ${plural(corrections, 'record')} of it were corrected: the corrections are not used`,
    });
};

const raised = (limit: RejectLimit, by: number): RejectLimit =>
  limit.kind === 'count' ? { kind: 'count', records: limit.records + by } : limit;

/** Raises the reject limits by the number of rejects that corrections will replace. */
export const withRoomForCorrections = async (client: Client, plan: LoadPlan): Promise<LoadPlan> => {
  const corrected = await correctionsByTable(client, plan.lease.runId);
  if (corrected.size === 0) return plan;
  const all = [...corrected.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...plan,
    rejectLimit: plan.rejectLimit && raised(plan.rejectLimit, all),
    tables: plan.tables.map(({ table, ...rest }) => ({
      ...rest,
      table: { ...table, rejectLimit: raised(table.rejectLimit, corrected.get(table.name) ?? 0) },
    })),
  };
};
