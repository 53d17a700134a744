// Chooses how the progress of a run is shown: bars, lines, JSON or nothing.

import type { Logger } from '../../core/logger.ts';
import { visibleJson } from '../../core/wording.ts';
import type { RunEvent } from '../../core/model.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../layout.ts';
import { openBars } from './bars.ts';
import { openLines } from './lines.ts';
import { applyEvent, emptyProgress, noteOf, type Progress, type ProgressDisplay } from './state.ts';

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

/** True if stderr is a terminal that a person looks at. */
const suitsBars = ({ stderr, env }: Io): boolean =>
  Boolean(stderr.isTTY) && !isOn(env['CI']) && env['TERM'] !== 'dumb';

/** Shows messages, but no progress. */
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

/** Opens the display on stderr. With `json`, also writes every event on stdout. */
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

// JSON.stringify writes an Error as {}.
const describe = (fields: object): string =>
  visibleJson(fields, (_, value: unknown) => (value instanceof Error ? value.message : value));

/** A logger that writes to the display; information needs `verbose` or `debug`. */
export const displayLogger = (
  display: ProgressDisplay,
  { verbose, debug }: { readonly verbose: boolean; readonly debug: boolean },
): Logger => {
  const say =
    (level: string, isShown: boolean) =>
    (fields: object, message: string): void => {
      const details = Object.keys(fields).length > 0 ? ` ${describe(fields)}` : '';
      if (isShown) display.note(`${level}: ${message}${details}`);
    };
  return {
    debug: say('debug', debug),
    info: say('info', verbose || debug),
    warn: say('warning', true),
    error: say('error', true),
  };
};
