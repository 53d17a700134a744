// Reports what a run does: to its listener and logger, into spans and a profile, and as a count of its progress. One value for all attempts.

import type { ServerAddress } from '../db/connect/address.ts';
import { EtlError, messageOf } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { BuildWhat, RunEvent, RunStep, StepTime, TraceContext } from '../core/model.ts';
import type { LoadTimes, Measurements } from '../core/profile.ts';
import type { Tracer } from './tracer.ts';
import { traceRun, traceSegment, type SegmentTrace } from './run-trace.ts';
import { startProfiler } from './profiler.ts';
import { rounded } from '../core/amounts.ts';
import { createNoticeLog, type Unsaved } from './notice-log.ts';

/** Who hears what a run reports. */
export interface Listening {
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  /** Whether the server is looked at, too. */
  readonly profile: boolean;
}

export interface Reporter {
  readonly logger: Logger;
  /** Reports an event to the host. What its listener throws ends the run. */
  readonly emit: (event: RunEvent) => void;
  readonly stepEnded: (step: RunStep, seconds: number) => void;
  readonly built: (table: string, what: BuildWhat, seconds: number) => void;
  /** For the chunks of a segment, which another process may have cut: `parent` is the span of its load. */
  readonly segment: (
    about: { readonly run: number; readonly table: string; readonly file: string },
    parent: TraceContext | undefined,
  ) => SegmentTrace;
  /** The span that jobs of the run belong to. */
  readonly trace: () => TraceContext | undefined;
  /** Chunks that were committed and parts of tables that were begun to be built: it grows while the run advances. */
  readonly progress: () => number;
  readonly steps: () => readonly StepTime[];
  /** What this process measured so far. */
  readonly measured: () => Measurements;
  /** `--profile`: the result is to have what was measured, and the server is looked at too. */
  readonly isProfiled: boolean;
  /** Notices that are not in the ledger yet. */
  readonly unsaved: () => Unsaved;
  readonly end: (error?: unknown) => Promise<void>;
}

/** What a listener throws is named as such: it must not pass for a lost connection, whose errors have no code either. */
const listenerError = (cause: unknown): EtlError =>
  new EtlError('ETL_INTERNAL', { problem: `onEvent threw: ${messageOf(cause)}` }, { cause });

/**
 * Calls the host's listener. An asynchronous one is not awaited; when it fails, the next event ends the run, and
 * the log has it in any case. Proved by test/integration/library.test.ts, "has a listener that fails later".
 */
const createCallListener = ({ onEvent, logger }: Listening): ((event: RunEvent) => void) => {
  let failure: EtlError | undefined;
  const fail = (cause: unknown): void => {
    failure = listenerError(cause);
    logger.error({ error: failure }, 'a listener of the run failed');
  };
  return (event) => {
    if (failure !== undefined) throw failure;
    try {
      const returned: unknown = onEvent?.(event);
      if (returned instanceof Promise) returned.catch(fail);
    } catch (cause) {
      throw listenerError(cause);
    }
  };
};

/** A step that was done again, after a crash or because production was changed by hand, counts once, with all its time. */
const addStepTime = (steps: StepTime[], name: RunStep, seconds: number): void => {
  const index = steps.findIndex(({ step: known }) => known === name);
  if (index === -1) steps.push({ step: name, seconds });
  else steps[index] = { step: name, seconds: rounded(steps[index]!.seconds + seconds) };
};

/** A part of a run that this process does, and with which settings. */
export interface Reported {
  readonly pipeline: string;
  readonly address: ServerAddress;
  readonly settings: Listening;
  readonly fromWorker: {
    readonly parent?: TraceContext | undefined;
    readonly onChunk?: ((times: LoadTimes) => void) | undefined;
  };
  /** Only a coordinator has a span for the whole run. */
  readonly as: 'coordinator' | 'helper';
}

export const createReporter = ({ pipeline, address, settings, fromWorker, as }: Reported): Reporter => {
  const { logger, tracer } = settings;
  const callListener = createCallListener(settings);
  const isProfiled = settings.profile;
  const profiler = startProfiler(isProfiled ? address : undefined, logger);
  const trace = tracer && as === 'coordinator' ? traceRun(tracer, pipeline, fromWorker.parent) : undefined;
  const steps: StepTime[] = [];
  const noticeLog = createNoticeLog();
  let progress = 0;
  return {
    logger,
    emit: (event) => {
      if (event.type === 'building') progress += 1;
      noticeLog.hear(event);
      profiler.hear(event);
      trace?.hear(event);
      callListener(event);
    },
    stepEnded: (step, seconds) => {
      addStepTime(steps, step, seconds);
      trace?.stepEnded();
    },
    built: (table, what, seconds) => {
      profiler.addBuild({ table, what, seconds });
      trace?.built(table, what);
    },
    segment: (about, parent) => {
      const spans = tracer && traceSegment(tracer, parent, { pipeline, ...about });
      return {
        loaded: (chunk) => {
          progress += 1;
          spans?.loaded(chunk);
          profiler.addLoad(about.table, chunk.times);
          fromWorker.onChunk?.(chunk.times);
        },
        failed: (error) => spans?.failed(error),
      };
    },
    trace: () => trace?.carried(),
    progress: () => progress,
    steps: () => steps,
    measured: () => profiler.result(),
    isProfiled,
    unsaved: noticeLog.unsaved,
    end: async (error) => {
      trace?.end(error);
      await profiler.stop();
    },
  };
};
