// Makes the spans of a run from its events. A repeated step has several spans.
//
// run -> plan, load -> a chunk …, build -> a table …, publish

import type { BuildWhat, Counts, Position, TraceContext } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { LoadTimes } from '../core/profile.ts';
import { startSpan, type Attributes, type Span } from './spans.ts';
import type { Tracer } from './tracer.ts';

interface RunTrace {
  /** Must get every event of the run. */
  readonly hear: (event: RunEvent) => void;
  readonly stepEnded: () => void;
  readonly built: (table: string, what: BuildWhat) => void;
  readonly traceContext: () => TraceContext | undefined;
  readonly end: (error?: unknown) => void;
}

/** Starts the run's span as a child of `parent`, a job's span; without it, of the active span. */
export const traceRun = (tracer: Tracer, pipeline: string, parent: TraceContext | undefined): RunTrace => {
  const own: Attributes = { 'sluice.pipeline': pipeline };
  const run = startSpan(tracer, `run ${pipeline}`, { parent: parent ?? 'active', attributes: own });
  const tables = new Map<string, Span>();
  let common = own;
  let step: Span | undefined;

  const endStep = (error?: unknown): void => {
    for (const open of [...tables.values(), ...(step === undefined ? [] : [step])]) {
      if (error !== undefined) open.fail(error);
      open.end();
    }
    tables.clear();
    step = undefined;
  };
  const startTable = (table: string): Span => {
    const attributes = { ...common, 'sluice.table': table };
    const span = startSpan(tracer, `build ${table}`, { parent: step ?? run, attributes });
    tables.set(table, span);
    return span;
  };
  const hear = (event: RunEvent): void => {
    if (event.type === 'started') {
      common = { ...own, 'sluice.run.id': event.runId };
      run.set({ ...common, 'sluice.workers': event.workers });
    } else if (event.type === 'step') {
      endStep();
      step = startSpan(tracer, event.step, { parent: run, attributes: common });
    } else if (event.type === 'building')
      (tables.get(event.table) ?? startTable(event.table)).event(event.what);
    else if (event.type === 'resumed')
      run.event('resumed', { 'sluice.chunks': event.chunks, 'sluice.records': event.records });
    else if (event.type === 'waiting') {
      endStep({ code: 'ETL_SERVER_LOST' });
      run.event('waiting');
    } else if (event.type === 'recovered')
      run.event('recovered', { 'sluice.crashed': event.crashed, 'sluice.chunks': event.chunks });
    else if (event.type === 'finished') run.set(outcomeOf(event));
  };
  return {
    hear,
    stepEnded: endStep,
    built: (table, what) => {
      if (what !== 'statistics') return;
      tables.get(table)?.end();
      tables.delete(table);
    },
    traceContext: () => (step ?? run).traceContext(),
    end: (error) => {
      endStep(error);
      if (error !== undefined) run.fail(error);
      run.end();
    },
  };
};

const outcomeOf = ({ result }: Extract<RunEvent, { type: 'finished' }>): Attributes => {
  const sum = (key: 'bytes' | 'records' | 'rejected'): number =>
    result.tables.reduce((total, table) => total + table[key], 0);
  return {
    'sluice.run.id': result.runId,
    'sluice.outcome': result.outcome,
    'sluice.bytes': sum('bytes'),
    'sluice.records': sum('records'),
    'sluice.rejects': sum('rejected'),
  };
};

export interface LoadedChunk {
  readonly start: Position;
  readonly end: Position;
  readonly counts: Counts;
  readonly times: LoadTimes;
  /** Time of the commit, in milliseconds since 1970. */
  readonly endMs: number;
}

export interface SegmentTrace {
  readonly loaded: (chunk: LoadedChunk) => void;
  readonly failed: (error: unknown) => void;
}

/** Starts a segment's span below `parent`, the load step's span; undefined without `parent`. */
export const traceSegment = (
  tracer: Tracer,
  parent: TraceContext | undefined,
  about: { readonly pipeline: string; readonly run: number; readonly table: string; readonly file: string },
): SegmentTrace | undefined => {
  if (parent === undefined) return undefined;
  const common = {
    'sluice.pipeline': about.pipeline,
    'sluice.run.id': about.run,
    'sluice.table': about.table,
    'sluice.file': about.file,
  };
  let begunMs = Date.now();
  const start = (startMs: number, attributes: Attributes): Span =>
    startSpan(tracer, `chunk ${about.table}`, { parent, startMs, attributes: { ...common, ...attributes } });
  return {
    loaded: ({ start: { byte }, end, counts, times, endMs }) => {
      start(endMs - times.read - times.decode - times.copy - times.ledger, {
        'sluice.byte': byte,
        'sluice.bytes': end.byte - byte,
        'sluice.records': counts.records,
        'sluice.rejects': counts.rejected,
      }).end(endMs);
      begunMs = endMs;
    },
    failed: (error) => {
      const span = start(begunMs, {});
      span.fail(error);
      span.end();
    },
  };
};
