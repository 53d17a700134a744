// The spans on both sides of the queue of runs: who put a job there, and each delivery of it.

import type { TraceContext } from '../core/model.ts';
import { startSpan, withinSpan } from './spans.ts';
import type { Tracer } from './tracer.ts';

/** Names of OpenTelemetry's semantic conventions for messaging. */
const messaging = (queueName: string, operation: 'send' | 'process') => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queueName,
  'messaging.operation.type': operation,
});

/** What is put on a queue, and where. */
export interface Sending {
  readonly tracer: Tracer | undefined;
  readonly queueName: string;
  readonly pipeline: string;
}

/** Puts a job on a queue with the trace that it belongs to; without a tracer, with none. */
export const traceSending = async <T>(
  { tracer, queueName, pipeline }: Sending,
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
  /** Who put the job on the queue. */
  readonly parent: TraceContext | undefined;
}

/** Does what a job asks for, once more if it was delivered before. */
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
