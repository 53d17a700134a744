// The state of a running run, calculated from its events. Every display draws this state.

import type { RunStep } from '../../core/model.ts';
import type { RunEvent } from '../../core/run-event.ts';
import { noticeOf } from '../../report/notice.ts';

export interface ProgressDisplay {
  event(event: RunEvent): void;
  /** Shows a message beside the progress, such as a log line. */
  note(text: string): void;
  /** Ends the display and restores the terminal. May be called twice. */
  close(): void;
}

export interface TableProgress {
  readonly table: string;
  readonly kind: 'source' | 'derived';
  readonly files: number;
  /** Size of the table's files; without their headers after the first progress event. */
  bytesTotal: number;
  bytes: number;
  records: number;
  rejected: number;
  filtered: number;
  /** Bytes and records that an earlier process loaded. They do not count for the rate. */
  before: { readonly bytes: number; readonly records: number };
  phase: 'waiting' | 'loading' | 'loaded' | 'building' | 'publishing';
  building: string;
  startedMs: number | undefined;
  seconds: number | undefined;
}

export interface Progress {
  readonly startedMs: number;
  runId: number | undefined;
  server: string;
  step: RunStep | undefined;
  tables: TableProgress[];
  isFinished: boolean;
}

export const emptyProgress = (nowMs: number): Progress => ({
  startedMs: nowMs,
  runId: undefined,
  server: '',
  step: undefined,
  tables: [],
  isFinished: false,
});

type PlannedTable = Extract<RunEvent, { type: 'planned' }>['tables'][number];

const plannedTable = ({ bytes, ...planned }: PlannedTable): TableProgress => ({
  ...planned,
  bytesTotal: bytes,
  bytes: 0,
  records: 0,
  rejected: 0,
  filtered: 0,
  before: { bytes: Infinity, records: 0 },
  phase: 'waiting',
  building: '',
  startedMs: undefined,
  seconds: undefined,
});

export const tableOf = (progress: Progress, event: RunEvent): TableProgress | undefined =>
  'table' in event ? progress.tables.find(({ table }) => table === event.table) : undefined;

/** Returns the event's message; undefined if the event only changes the progress display. */
export const noteOf = (event: RunEvent, verbose: boolean): string | undefined =>
  verbose && event.type === 'building' ? `${event.table}: building ${event.what}` : noticeOf(event);

const applyStep = (progress: Progress, step: RunStep, nowMs: number): void => {
  progress.step = step;
  for (const table of progress.tables) {
    if (step === 'publish') table.phase = 'publishing';
    // Publishing failed and the tables are built again: each waits for its turn.
    else if (step === 'build' && table.phase === 'publishing')
      table.phase = table.kind === 'derived' ? 'waiting' : 'loaded';
    else if (step === 'load') table.startedMs ??= nowMs;
  }
};

const applyToTable = (table: TableProgress, event: RunEvent, nowMs: number): void => {
  if (event.type === 'loaded') Object.assign(table, { phase: 'loaded', seconds: event.seconds });
  if (event.type === 'building') Object.assign(table, { phase: 'building', building: event.what });
  if (event.type !== 'progress') return;
  const { bytes, bytesTotal, records, rejected, filtered } = event;
  table.startedMs ??= nowMs;
  // At the first progress, and when a crash of the server has emptied the staging tables.
  if (bytes < table.before.bytes) table.before = { bytes, records };
  if (table.phase === 'waiting' && bytes > table.before.bytes) table.phase = 'loading';
  Object.assign(table, { bytes, bytesTotal, records, rejected, filtered });
};

export const applyEvent = (progress: Progress, event: RunEvent, nowMs: number): void => {
  const table = tableOf(progress, event);
  if (table) applyToTable(table, event, nowMs);
  if ('runId' in event) progress.runId = event.runId;
  if (event.type === 'started') progress.server = event.server;
  if (event.type === 'planned') progress.tables = event.tables.map(plannedTable);
  if (event.type === 'step') applyStep(progress, event.step, nowMs);
  if (event.type !== 'finished') return;
  progress.runId = event.result.runId;
  progress.isFinished = true;
};

export const loadSeconds = (table: TableProgress, nowMs: number): number =>
  table.seconds ?? (table.startedMs === undefined ? 0 : (nowMs - table.startedMs) / 1000);

export const recordsRead = ({ records, before }: TableProgress): number => records - before.records;

export const shareRead = ({ bytes, bytesTotal, phase }: TableProgress): number => {
  if (phase !== 'waiting' && phase !== 'loading') return 1;
  return bytesTotal > 0 ? Math.min(1, bytes / bytesTotal) : 0;
};

/** Estimates the remaining seconds of a table; undefined if too little has been read. */
export const secondsLeft = (table: TableProgress, nowMs: number): number | undefined => {
  const read = table.bytes - table.before.bytes;
  const left = Math.max(0, table.bytesTotal - table.bytes);
  const seconds = loadSeconds(table, nowMs);
  if (table.phase !== 'loading' || read <= 0.005 * (read + left) || seconds < 0.5) return undefined;
  return (seconds * left) / read;
};
