// What is known of a running run from its events: one state, which every display draws.

import type { RunEvent, RunStep } from '../../core/model.ts';
import { noticeOf } from '../../report/notice.ts';

/** What every display of a running run can do. Its state has taken an event in before it hears of it. */
export interface ProgressDisplay {
  event(event: RunEvent): void;
  /** Shows a message that is not part of the progress: a notice, a log line. */
  note(text: string): void;
  /** Ends the display and restores the terminal; it may be called twice. */
  close(): void;
}

/** waiting -> loading -> loaded -> building -> publishing -> building …; a derived table has nothing to load. */
export type TablePhase = 'waiting' | 'loading' | 'loaded' | 'building' | 'publishing';

export interface TableProgress {
  readonly table: string;
  readonly kind: 'source' | 'derived';
  readonly files: number;
  /** Of its files; once they are being read, without headers. */
  bytesTotal: number;
  bytes: number;
  records: number;
  rejected: number;
  filtered: number;
  /** What was in staging before this process began with the table: it says nothing about the pace. */
  before: { readonly bytes: number; readonly records: number } | undefined;
  phase: TablePhase;
  /** What is being built. */
  building: string;
  /** Clock reading at the first progress; undefined before. */
  startedMs: number | undefined;
  /** How long loading took; undefined before it is over. */
  seconds: number | undefined;
}

export interface Progress {
  readonly startedMs: number;
  runId: number | undefined;
  server: string;
  workers: number;
  step: RunStep | undefined;
  tables: TableProgress[];
}

/** The state before the first event. */
export const emptyProgress = (nowMs: number): Progress => ({
  startedMs: nowMs,
  runId: undefined,
  server: '',
  workers: 0,
  step: undefined,
  tables: [],
});

type PlannedTable = Extract<RunEvent, { type: 'planned' }>['tables'][number];

const plannedTable = ({ table, kind, files, bytes }: PlannedTable): TableProgress => ({
  table,
  kind,
  files,
  bytesTotal: bytes,
  bytes: 0,
  records: 0,
  rejected: 0,
  filtered: 0,
  before: undefined,
  phase: 'waiting',
  building: '',
  startedMs: undefined,
  seconds: undefined,
});

/** The table that an event is about. */
export const tableOf = (progress: Progress, event: RunEvent): TableProgress | undefined =>
  'table' in event ? progress.tables.find(({ table }) => table === event.table) : undefined;

/** What an event is worth beside the progress, on a line of its own. */
export const noteOf = (event: RunEvent, verbose: boolean): string | undefined =>
  verbose && event.type === 'building' ? `${event.table}: building ${event.what}` : noticeOf(event);

const applyCounts = (
  table: TableProgress,
  { bytes, bytesTotal, records, rejected, filtered }: Extract<RunEvent, { type: 'progress' }>,
  nowMs: number,
): void => {
  table.startedMs ??= nowMs;
  // What a crash of the server took is loaded again, by this process.
  if (table.before === undefined || bytes < table.before.bytes) table.before = { bytes, records };
  if (table.phase === 'waiting' && bytes > table.before.bytes) table.phase = 'loading';
  Object.assign(table, { bytes, bytesTotal, records, rejected, filtered });
};

/** Takes one event in. */
export const applyEvent = (progress: Progress, event: RunEvent, nowMs: number): void => {
  const table = tableOf(progress, event);
  if (event.type === 'started') {
    progress.runId = event.runId;
    progress.server = event.server;
    progress.workers = event.workers;
  } else if (event.type === 'planned') progress.tables = event.tables.map(plannedTable);
  else if (event.type === 'step') {
    progress.step = event.step;
    if (event.step === 'publish') for (const each of progress.tables) each.phase = 'publishing';
    // A table that is built again waits until its turn comes.
    if (event.step === 'build')
      for (const each of progress.tables)
        if (each.phase === 'publishing') each.phase = each.kind === 'derived' ? 'waiting' : 'loaded';
    // Until its first bytes are reported, a table counts as started with the step.
    if (event.step === 'load') for (const each of progress.tables) each.startedMs ??= nowMs;
  } else if (event.type === 'progress' && table) applyCounts(table, event, nowMs);
  else if (event.type === 'loaded' && table)
    Object.assign(table, { phase: 'loaded', seconds: event.seconds });
  else if (event.type === 'building' && table)
    Object.assign(table, { phase: 'building', building: event.what });
};

/** Seconds that the table has been loading, or took to load. */
export const loadSeconds = (table: TableProgress, nowMs: number): number =>
  table.seconds ?? (table.startedMs === undefined ? 0 : (nowMs - table.startedMs) / 1000);

/** Records that this process has read. */
export const recordsRead = ({ records, before }: TableProgress): number => records - (before?.records ?? 0);

/** Share of the bytes that are read, from 0 to 1. */
export const shareRead = ({ bytes, bytesTotal, phase }: TableProgress): number => {
  if (phase !== 'waiting' && phase !== 'loading') return 1;
  return bytesTotal > 0 ? Math.min(1, bytes / bytesTotal) : 0;
};

/** Seconds that loading will still take at the pace so far; undefined while too little is read. */
export const secondsLeft = (table: TableProgress, nowMs: number): number | undefined => {
  const read = table.bytes - (table.before?.bytes ?? 0);
  const left = Math.max(0, table.bytesTotal - table.bytes);
  const seconds = loadSeconds(table, nowMs);
  if (table.phase !== 'loading' || read <= 0.005 * (read + left) || seconds < 0.5) return undefined;
  return (seconds * left) / read;
};
