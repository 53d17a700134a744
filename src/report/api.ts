// Loads OpenTelemetry's API, only if somebody asked for traces.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as OpenTelemetry from '@opentelemetry/api';
import { codeOf, EtlError } from '../core/errors/errors.ts';
import type { Tracer } from './tracer.ts';

/** Errors: ETL_USAGE if the package is not installed. */
export const loadOpenTelemetry = (): typeof OpenTelemetry => {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api') as typeof OpenTelemetry;
  } catch (cause) {
    if (codeOf(cause) !== 'MODULE_NOT_FOUND') throw cause;
    const hint = 'Install it: npm install @opentelemetry/api';
    throw new EtlError(
      'ETL_USAGE',
      { problem: 'traces need the package @opentelemetry/api', hint },
      { cause },
    );
  }
};

/** `isRegistered` is false if the tracer drops all spans. Errors: ETL_USAGE. */
export const globalTracer = (): { readonly tracer: Tracer; readonly isRegistered: boolean } => {
  const { trace, isSpanContextValid } = loadOpenTelemetry();
  const tracer = trace.getTracer('sluice');
  // The probe is never exported, because it never ends.
  return { tracer, isRegistered: isSpanContextValid(tracer.startSpan('probe').spanContext()) };
};

/** Longest wait at the end of a command until its spans are sent. */
const flushMs = 5_000;

export const flushSpans = async (): Promise<void> => {
  const { trace, ProxyTracerProvider } = loadOpenTelemetry();
  const known = trace.getTracerProvider();
  const provider: object = known instanceof ProxyTracerProvider ? known.getDelegate() : known;
  const { forceFlush } = provider as { readonly forceFlush?: () => Promise<void> };
  const flushed = Promise.resolve()
    .then(() => forceFlush?.call(provider))
    .catch(() => undefined);
  await Promise.race([flushed, sleep(flushMs, undefined, { ref: false })]);
};
