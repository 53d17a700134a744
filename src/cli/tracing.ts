// `--tracing`: creates spans with the OpenTelemetry tracer provider of this process.

import type { Tracer } from '../report/tracer.ts';
import type { Io } from './io.ts';

const noSdkText = `--tracing: no OpenTelemetry SDK is registered, so no spans are sent.
  Load one with NODE_OPTIONS='--import ./otel.mjs'; docs/operations/tracing.md has an example.
`;

export const withTracing = async <T>(
  { io, tracing }: { readonly io: Io; readonly tracing: boolean },
  work: (given: { readonly tracer?: Tracer }) => Promise<T>,
): Promise<T> => {
  if (!tracing) return work({});
  const { flushSpans, globalTracer } = await import('../report/api.ts');
  const { tracer, isRegistered } = globalTracer();
  if (!isRegistered) io.stderr.write(noSdkText);
  try {
    return await work({ tracer });
  } finally {
    await flushSpans();
  }
};
