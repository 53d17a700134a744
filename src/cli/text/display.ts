// Chooses how the progress of a run is shown: bars, lines, JSON or nothing.

import { codeOf, messageOf } from '../../core/errors/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { visibleJson, formatCount, plural } from '../../core/wording.ts';
import type { RunStep } from '../../core/model.ts';
import type { RunEvent } from '../../core/run-event.ts';
import { openBars } from './bars.ts';
import {
  applyEvent,
  emptyProgress,
  noteOf,
  type Progress,
  type ProgressDisplay,
  loadSeconds,
  recordsRead,
  secondsLeft,
  shareRead,
  tableOf,
  type TableProgress,
} from './state.ts';
import { progressLineIntervalMs } from '../../core/limits.ts';
import { formatBytes, formatLeft, formatRate, formatSeconds } from '../../core/amounts.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../layout.ts';

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

const openLines = (progress: Progress, io: Io, verbose: boolean): ProgressDisplay => {
  const saidMs = new Map<string, number>();
  let step: RunStep | undefined;

  const say = (text: string): void => {
    const seconds = ((io.clock() - progress.startedMs) / 1000).toFixed(1);
    io.stderr.write(`[${seconds.padStart(6)} s] ${visibleText(text)}\n`);
  };
  const isDue = (event: Extract<RunEvent, { type: 'progress' }>, nowMs: number): boolean => {
    const last = saidMs.get(event.table) ?? tableOf(progress, event)?.startedMs ?? nowMs;
    if (nowMs - last < progressLineIntervalMs) return false;
    saidMs.set(event.table, nowMs);
    return true;
  };
  const endStep = (next?: RunStep): void => {
    if (step !== undefined) {
      // A run returns to an earlier step after a lost connection or a foreign change of production.
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

export const progressModes = ['auto', 'bar', 'log', 'none'] as const;
export type ProgressMode = (typeof progressModes)[number];

interface DisplayOptions {
  readonly mode: ProgressMode;
  readonly pipeline: string;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
}

const silent: ProgressDisplay = { event: () => undefined, note: () => undefined, close: () => undefined };

const isOn = (value: string | undefined): boolean => Boolean(value) && value !== 'false' && value !== '0';

const suitsBars = ({ stderr, env }: Io): boolean =>
  Boolean(stderr.isTTY) && !isOn(env['CI']) && env['TERM'] !== 'dumb';

const openNotices = (io: Io): ProgressDisplay => {
  const note = (text: string): void => void io.stderr.write(`${visibleText(text)}\n`);
  const event = (each: RunEvent): void => {
    const text = noteOf(each, false);
    if (text !== undefined) note(text);
  };
  return { ...silent, note, event };
};

const openOnStderr = (progress: Progress, options: DisplayOptions, io: Io): ProgressDisplay => {
  const auto = options.json ? 'none' : suitsBars(io) ? 'bar' : 'log';
  const mode = options.mode === 'auto' ? auto : options.mode;
  if (mode === 'bar') return openBars(progress, io, options);
  if (mode === 'log') return openLines(progress, io, options.verbose);
  // With --json, stdout already has all messages as events.
  return options.json ? silent : openNotices(io);
};

const writeJson = ({ type, ...fields }: RunEvent, run: number | undefined, io: Io): void => {
  const line = { type, time: new Date(io.clock()).toISOString(), run, ...fields };
  io.stdout.write(`${visibleJson(line)}\n`);
};

export const openDisplay = (options: DisplayOptions, io: Io): ProgressDisplay => {
  if (options.quiet) return silent;
  const progress = emptyProgress(io.clock());
  const onStderr = openOnStderr(progress, options, io);
  return {
    ...onStderr,
    event: (event) => {
      applyEvent(progress, event, io.clock());
      if (options.json) writeJson(event, progress.runId, io);
      onStderr.event(event);
    },
  };
};

/** The code and message of `error`, then the other fields as JSON. */
const describe = ({ error, ...others }: { readonly error?: unknown }): string => {
  const code = codeOf(error);
  const problem = error === undefined ? '' : `: ${code === undefined ? '' : `${code} `}${messageOf(error)}`;
  return `${problem}${Object.keys(others).length > 0 ? ` ${visibleJson(others)}` : ''}`;
};

export const displayLogger = (
  display: ProgressDisplay,
  { verbose, debug }: { readonly verbose: boolean; readonly debug: boolean },
): Logger => {
  const say =
    (level: string, isShown: boolean) =>
    (fields: object, message: string): void => {
      if (isShown) display.note(`${level}: ${message}${describe(fields)}`);
    };
  return {
    debug: say('debug', debug),
    info: say('info', verbose || debug),
    warn: say('warning', true),
    error: say('error', true),
  };
};
