// Spans on both sides of the queue of runs: for enqueueing a job, and for each delivery of it.

import type { TraceContext } from '../core/model.ts';
import { startSpan, withinSpan } from './spans.ts';
import type { Tracer } from './tracer.ts';

const messaging = (queueName: string, operation: 'send' | 'process') => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queueName,
  'messaging.operation.type': operation,
});

interface Enqueueing {
  readonly tracer: Tracer | undefined;
  readonly queueName: string;
  readonly pipeline: string;
}

/** Makes a span around `send`, and passes it the span's context; undefined without a tracer. */
export const traceSending = async <T>(
  { tracer, queueName, pipeline }: Enqueueing,
  send: (trace: TraceContext | undefined) => Promise<T>,
  jobIdOf: (sent: T) => string,
): Promise<T> => {
  if (tracer === undefined) return send(undefined);
  const attributes = { ...messaging(queueName, 'send'), 'sluice.pipeline': pipeline };
  const span = startSpan(tracer, `enqueue ${pipeline}`, { kind: 'producer', parent: 'active', attributes });
  return withinSpan(span, async (trace) => {
    const sent = await send(trace);
    span.set({ 'messaging.message.id': jobIdOf(sent) });
    return sent;
  });
};

export interface Delivery {
  readonly tracer: Tracer | undefined;
  readonly queueName: string;
  readonly jobId: string;
  readonly pipeline: string;
  readonly parent: TraceContext | undefined;
}

export const traceDelivery = async <T>(
  { tracer, queueName, jobId, pipeline, parent }: Delivery,
  work: (trace: TraceContext | undefined) => Promise<T>,
): Promise<T> => {
  if (tracer === undefined) return work(undefined);
  const attributes = {
    ...messaging(queueName, 'process'),
    'messaging.message.id': jobId,
    'sluice.pipeline': pipeline,
  };
  return withinSpan(startSpan(tracer, `job ${pipeline}`, { kind: 'consumer', parent, attributes }), work);
};
