// Progress as plain lines for pipes, logs and CI: a line per event, with progress at intervals.

import { progressLineIntervalMs } from '../../core/limits.ts';
import type { RunEvent, RunStep } from '../../core/model.ts';
import { formatBytes, formatLeft, formatRate, formatSeconds } from '../../core/amounts.ts';
import { formatCount, plural } from '../../core/wording.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../layout.ts';
import {
  loadSeconds,
  noteOf,
  recordsRead,
  secondsLeft,
  shareRead,
  tableOf,
  type Progress,
  type ProgressDisplay,
  type TableProgress,
} from './state.ts';

const describePlan = ({ table, kind, files, bytesTotal }: TableProgress): string =>
  kind === 'derived' ? `${table}: derived` : `${table}: ${plural(files, 'file')}, ${formatBytes(bytesTotal)}`;

const describeLoading = (table: TableProgress, nowMs: number): string => {
  const left = secondsLeft(table, nowMs);
  return [
    `${table.table}: ${Math.floor(shareRead(table) * 100)}% of ${formatBytes(table.bytesTotal)}`,
    plural(table.records, 'record'),
    `${formatRate(recordsRead(table), loadSeconds(table, nowMs))} records/s`,
    `${formatCount(table.rejected)} rejected`,
    ...(left === undefined ? [] : [`${formatLeft(left)} left`]),
  ].join(', ');
};

const describeLoaded = (table: TableProgress, nowMs: number): string =>
  [
    `${table.table}: loaded ${plural(table.records, 'record')}`,
    `${formatCount(table.rejected)} rejected`,
    `${formatCount(table.filtered)} filtered`,
    formatSeconds(loadSeconds(table, nowMs)),
  ].join(', ');

const linesOf = (event: RunEvent, progress: Progress, nowMs: number, verbose: boolean): string[] => {
  const table = tableOf(progress, event);
  if (event.type === 'started')
    return [`run ${event.runId} of ${event.pipeline} on ${event.server}, ${plural(event.workers, 'worker')}`];
  if (event.type === 'planned') return progress.tables.map(describePlan);
  if (event.type === 'step') return [`${event.step} started`];
  if (event.type === 'progress') return table ? [describeLoading(table, nowMs)] : [];
  if (event.type === 'loaded') return table ? [describeLoaded(table, nowMs)] : [];
  const note = noteOf(event, verbose);
  return note === undefined ? [] : [note];
};

const order: readonly RunStep[] = ['plan', 'load', 'build', 'test', 'publish'];

/** Writes lines on stderr. Each begins with the seconds since the start. */
export const openLines = (progress: Progress, io: Io, verbose: boolean): ProgressDisplay => {
  const saidMs = new Map<string, number>();
  let step: RunStep | undefined;

  const say = (text: string): void => {
    const seconds = ((io.clock() - progress.startedMs) / 1000).toFixed(1);
    io.stderr.write(`[${seconds.padStart(6)} s] ${visibleText(text)}\n`);
  };
  // The first line is due an interval after the start of the load.
  const isDue = (event: Extract<RunEvent, { type: 'progress' }>, nowMs: number): boolean => {
    const last = saidMs.get(event.table) ?? tableOf(progress, event)?.startedMs ?? nowMs;
    if (nowMs - last < progressLineIntervalMs) return false;
    saidMs.set(event.table, nowMs);
    return true;
  };
  const endStep = (next?: RunStep): void => {
    if (step !== undefined) {
      // A step is repeated after a lost connection, or after another session changed production.
      const isDone = next === undefined || order.indexOf(next) > order.indexOf(step);
      say(`${step} ${isDone ? 'done' : 'broken off'}`);
    }
    step = next;
  };
  return {
    event(event) {
      const nowMs = io.clock();
      if (event.type === 'progress' && !isDue(event, nowMs)) return;
      if (event.type === 'finished') endStep();
      if (event.type === 'step') endStep(event.step);
      linesOf(event, progress, nowMs, verbose).forEach(say);
    },
    note: say,
    close: () => undefined,
  };
};
