// Makes spans, and passes traces on to other processes.

import type * as OpenTelemetry from '@opentelemetry/api';
import { codeOf } from '../core/errors/errors.ts';
import { traceStateCharsMax } from '../core/limits.ts';
import type { TraceContext } from '../core/model.ts';
import { loadOpenTelemetry } from './api.ts';
import type { Tracer } from './tracer.ts';

type Kind = 'internal' | 'producer' | 'consumer';

interface SpanOptions {
  readonly kind?: Kind;
  /** active: the caller's span · undefined: a new trace. */
  readonly parent: Span | TraceContext | 'active' | undefined;
  readonly attributes: Attributes;
  /** Milliseconds since 1970. Default: now. */
  readonly startMs?: number;
}

/** Attributes: only numbers and names, because values of parameters or fields may be secret. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  readonly set: (attributes: Attributes) => void;
  readonly event: (name: string, attributes?: Attributes) => void;
  readonly fail: (error: unknown) => void;
  readonly end: (endMs?: number) => void;
  /** Context to pass to another process; undefined: nobody collects spans. */
  readonly traceContext: () => TraceContext | undefined;
  readonly span: OpenTelemetry.Span;
}

/** Codes that do not count as errors in a trace: the run was stopped, or is run elsewhere. */
const quietCodes = new Set(['ETL_INTERRUPTED', 'ETL_RUN_LOCKED']);

const traceContextOf = ({ span }: Pick<Span, 'span'>): TraceContext | undefined => {
  const { isSpanContextValid } = loadOpenTelemetry();
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const flags = traceFlags.toString(16).padStart(2, '0');
  const traceparent = `00-${traceId}-${spanId}-${flags}`.toLowerCase();
  // The standard asks to drop a tracestate that is too long.
  const tracestate = traceState?.serialize() ?? '';
  return { traceparent, ...(tracestate !== '' && tracestate.length <= traceStateCharsMax && { tracestate }) };
};

const contextOf = (parent: SpanOptions['parent']): OpenTelemetry.Context => {
  const { context, createTraceState, ROOT_CONTEXT, trace } = loadOpenTelemetry();
  if (parent === 'active') return context.active();
  if (parent === undefined) return ROOT_CONTEXT;
  if ('span' in parent) return trace.setSpan(ROOT_CONTEXT, parent.span);
  const [, traceId = '', spanId = '', flags = ''] = parent.traceparent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(parent.tracestate !== undefined && { traceState: createTraceState(parent.tracestate) }),
  });
};

export const withinSpan = async <T>(
  span: Span,
  work: (trace: TraceContext | undefined) => Promise<T>,
): Promise<T> => {
  try {
    return await work(span.traceContext());
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
};

/** Ignores errors, because a broken tracer must not end a run. */
const quietly = <T>(call: () => T): T | undefined => {
  try {
    return call();
  } catch {
    return undefined;
  }
};

export const startSpan = (tracer: Tracer, name: string, options: SpanOptions): Span => {
  const { INVALID_SPAN_CONTEXT, SpanKind, SpanStatusCode, trace } = loadOpenTelemetry();
  const { kind = 'internal', parent, attributes, startMs } = options;
  const kinds = { internal: SpanKind.INTERNAL, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };
  const started = quietly(() =>
    (tracer as OpenTelemetry.Tracer).startSpan(
      name,
      { kind: kinds[kind], attributes, ...(startMs !== undefined && { startTime: startMs }) },
      contextOf(parent),
    ),
  );
  const span = started ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  return {
    set: (more) => void quietly(() => span.setAttributes(more)),
    event: (event, more = {}) => void quietly(() => span.addEvent(event, more)),
    fail: (error) => {
      const code = codeOf(error) ?? 'unknown';
      quietly(() => span.setAttribute('error.type', code));
      if (!quietCodes.has(code)) quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, message: code }));
    },
    end: (endMs) => quietly(() => span.end(endMs)),
    traceContext: () => quietly(() => traceContextOf({ span })),
    span,
  };
};
