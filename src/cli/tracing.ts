// `--tracing`: spans from the tracer provider that the user registered in this process.

import type { Tracer } from '../report/tracer.ts';
import type { Io } from './io.ts';

const unheard = `--tracing: no OpenTelemetry SDK is registered, so spans go nowhere.
  Load one with NODE_OPTIONS='--import ./otel.mjs'; docs/operations/tracing.md has an example.
`;

/** Does a command with the tracer that it asks for; its spans are sent before the process ends. Errors: ETL_USAGE. */
export const withTracing = async <T>(
  { io, tracing }: { readonly io: Io; readonly tracing: boolean },
  work: (given: { readonly tracer?: Tracer }) => Promise<T>,
): Promise<T> => {
  if (!tracing) return work({});
  const { flushSpans, globalTracer } = await import('../report/api.ts');
  const { tracer, isRegistered } = globalTracer();
  if (!isRegistered) io.stderr.write(unheard);
  try {
    return await work({ tracer });
  } finally {
    await flushSpans();
  }
};
