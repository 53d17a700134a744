// Reports what a run does: to its listener and logger, as spans, profile, notices and step times.
// All attempts of a run share a reporter.

import type { ServerAddress } from '../db/connect/address.ts';
import { EtlError, messageOf } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { BuildWhat, RunStep, StepTime, TimedStep, TraceContext } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { LoadTimes, Measurements } from '../core/profile.ts';
import type { Tracer } from './tracer.ts';
import { traceRun, traceSegment, type SegmentTrace } from './run-trace.ts';
import { startProfiler } from './profiler.ts';
import { rounded } from '../core/amounts.ts';
import { createNoticeLog, type Unsaved } from './notice-log.ts';

export interface Listening {
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  readonly profile: boolean;
}

export interface Reporter {
  readonly logger: Logger;
  /** Throws if the host's listener throws, which ends the run. */
  readonly emit: (event: RunEvent) => void;
  /** From now on the run's time counts for this step. Returns the step before. */
  readonly enter: (step: TimedStep | undefined) => TimedStep | undefined;
  readonly stepEnded: (step: RunStep) => void;
  readonly built: (table: string, what: BuildWhat, seconds: number) => void;
  /** `parent`: the load step's span, possibly of another process. */
  readonly segment: (
    about: { readonly run: number; readonly table: string; readonly file: string },
    parent: TraceContext | undefined,
  ) => SegmentTrace;
  readonly trace: () => TraceContext | undefined;
  /** Counts committed chunks and started parts of built tables: grows while the run advances. */
  readonly progress: () => number;
  readonly steps: () => readonly StepTime[];
  readonly measured: () => Measurements;
  /** True with `--profile`: the run's result then has measurements, also of the server. */
  readonly isProfiled: boolean;
  readonly unsaved: () => Unsaved;
  readonly end: (error?: unknown) => Promise<void>;
}

/** Wraps a listener's error, which could otherwise be mistaken for a lost connection. */
const listenerError = (cause: unknown): EtlError =>
  new EtlError('ETL_LISTENER', { problem: messageOf(cause) }, { cause });

/**
 * Returns a function that calls the host's listener without awaiting its promise. A rejection is
 * logged, and the next event then ends the run. Proved by test/integration/library.test.ts, "has a
 * listener that fails later".
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

/**
 * Divides the time since `begin` among the steps, without gaps, first `connect`. A repeated step,
 * for example after a crash, counts once.
 */
const createStepClock = (begin: number) => {
  const times = new Map<TimedStep, number>();
  let current: TimedStep | undefined = 'connect';
  let since = begin;
  const enter = (step: TimedStep | undefined): TimedStep | undefined => {
    const now = performance.now();
    const before = current;
    if (before !== undefined) times.set(before, (times.get(before) ?? 0) + (now - since));
    [current, since] = [step, now];
    return before;
  };
  /**
   * Rounds the ends of steps, not their lengths, so that rounded steps add up to the rounded sum.
   */
  const steps = (): readonly StepTime[] => {
    enter(current);
    let ms = 0;
    let end = 0;
    return [...times].map(([step, own]) => {
      const start = end;
      ms += own;
      end = rounded(ms / 1000);
      return { step, seconds: rounded(end - start) };
    });
  };
  return { enter, steps };
};

export interface Reported {
  readonly pipeline: string;
  readonly address: ServerAddress;
  readonly settings: Listening;
  readonly fromWorker: {
    readonly parent?: TraceContext | undefined;
    readonly onChunk?: ((times: LoadTimes) => void) | undefined;
  };
  /** Only the coordinator makes a span for the whole run. */
  readonly as: 'coordinator' | 'helper';
  /** When the run was called, by `performance.now()`. */
  readonly begin: number;
}

export const createReporter = ({
  pipeline,
  address,
  settings,
  fromWorker,
  as,
  begin,
}: Reported): Reporter => {
  const { logger, tracer } = settings;
  const callListener = createCallListener(settings);
  const isProfiled = settings.profile;
  const profiler = startProfiler(isProfiled ? address : undefined, logger);
  const trace = tracer && as === 'coordinator' ? traceRun(tracer, pipeline, fromWorker.parent) : undefined;
  const clock = createStepClock(begin);
  const noticeLog = createNoticeLog();
  let progress = 0;
  return {
    logger,
    emit: (event) => {
      if (event.type === 'building') progress += 1;
      if (event.type === 'step') clock.enter(event.step);
      if (event.type === 'waiting') clock.enter('wait');
      noticeLog.hear(event);
      profiler.hear(event);
      trace?.hear(event);
      callListener(event);
    },
    enter: clock.enter,
    stepEnded: (step) => {
      if (step === 'publish') clock.enter('finish');
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
    trace: () => trace?.traceContext(),
    progress: () => progress,
    steps: clock.steps,
    measured: () => profiler.result(),
    isProfiled,
    unsaved: noticeLog.unsaved,
    end: async (error) => {
      trace?.end(error);
      await profiler.stop();
    },
  };
};
