// Chooses the progress display of a run, once, from flags, terminal and environment.

import type { Logger } from '../../core/logger.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../layout.ts';
import { openBars } from './bars.ts';
import type { RunEvent } from '../../core/model.ts';
import { openLines } from './lines.ts';
import { applyEvent, emptyProgress, noteOf, type Progress, type ProgressDisplay } from './state.ts';
import { visibleJson } from '../../core/wording.ts';

export const progressModes = ['auto', 'bar', 'log', 'none'] as const;
export type ProgressMode = (typeof progressModes)[number];

interface DisplayOptions {
  readonly mode: ProgressMode;
  /** Name of the pipeline. */
  readonly pipeline: string;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
}

const silent: ProgressDisplay = { event: () => undefined, note: () => undefined, close: () => undefined };

const isOn = (value: string | undefined): boolean => Boolean(value) && value !== 'false' && value !== '0';

/** Bars need a terminal that a person looks at. */
const suitsBars = ({ stderr, env }: Io): boolean =>
  Boolean(stderr.isTTY) && !isOn(env['CI']) && env['TERM'] !== 'dumb';

/** The run that an event names. */
const runOf = (event: RunEvent): number | undefined => {
  if (event.type === 'finished') return event.result.runId;
  return 'runId' in event ? event.runId : undefined;
};

/** Every event as one line of JSON, with the time and, once there is one, the run. */
const openJson = (io: Io): ProgressDisplay => {
  let run: number | undefined;
  return {
    ...silent,
    event(event) {
      run = runOf(event) ?? run;
      const { type, ...fields } = event;
      const line = { type, time: new Date(io.clock()).toISOString(), run, ...fields };
      io.stdout.write(`${visibleJson(line)}\n`);
    },
  };
};

const openOnStderr = (progress: Progress, options: DisplayOptions, io: Io): ProgressDisplay => {
  const auto = options.json ? 'none' : suitsBars(io) ? 'bar' : 'log';
  const mode = options.mode === 'auto' ? auto : options.mode;
  if (mode === 'bar') return openBars(progress, io, options);
  if (mode === 'log') return openLines(progress, io, options.verbose);
  // JSON already carries the notices.
  if (options.json) return silent;
  return openNotices(io);
};

/** No progress, but what has to be said. */
const openNotices = (io: Io): ProgressDisplay => {
  const note = (text: string): void => void io.stderr.write(`${visibleText(text)}\n`);
  const event = (each: RunEvent): void => {
    const notice = noteOf(each, false);
    if (notice !== undefined) note(notice);
  };
  return { ...silent, note, event };
};

/** Opens the display: bars, lines, JSON on stdout (beside bars or lines if asked for), or nothing. */
export const openDisplay = (options: DisplayOptions, io: Io): ProgressDisplay => {
  if (options.quiet) return silent;
  const progress = emptyProgress(io.clock());
  const onStderr = openOnStderr(progress, options, io);
  const json = options.json ? openJson(io) : silent;
  return {
    ...onStderr,
    event: (event) => {
      applyEvent(progress, event, io.clock());
      json.event(event);
      onStderr.event(event);
    },
  };
};

/** A logger that writes through the display: warnings always, the rest with --verbose and --debug. */
export const displayLogger = (
  display: ProgressDisplay,
  { verbose, debug }: { readonly verbose: boolean; readonly debug: boolean },
): Logger => {
  const say =
    (level: string, shown: boolean) =>
    (fields: object, message: string): void => {
      if (shown)
        display.note(`${level}: ${message}${Object.keys(fields).length > 0 ? ` ${describe(fields)}` : ''}`);
    };
  return {
    debug: say('debug', debug),
    info: say('info', verbose || debug),
    warn: say('warning', true),
    error: say('error', true),
  };
};

// JSON.stringify writes an Error as {}.
const describe = (fields: object): string =>
  visibleJson(fields, (_, value: unknown) => (value instanceof Error ? value.message : value));
