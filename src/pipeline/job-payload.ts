// The data of jobs, checked when a job comes back: others can write to a queue, too.

import { z } from 'zod';
import { EtlError } from '../core/errors/errors.ts';
import { segmentsPerJobMax, traceStateCharsMax } from '../core/limits.ts';

/** A NUL and half of a surrogate pair, as JSON writes them. PostgreSQL stores neither, so the job would never end. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][\da-f]{2})/i;

const isStorable = (value: unknown): boolean => !unstorable.test(JSON.stringify(value) ?? '');

/** Values that W3C Trace Context allows; absent without tracing. */
const traceSchema = z
  .strictObject({
    traceparent: z
      .string()
      .regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/, 'is not a traceparent'),
    tracestate: z
      .string()
      .max(traceStateCharsMax)
      .regex(/^[\x20-\x7e]*$/, 'is not a tracestate')
      .optional(),
  })
  .optional()
  // A job is done even if its trace is broken.
  .catch(undefined);

const requestSchema = z
  .strictObject({
    pipeline: z.string().min(1),
    /** Hash of the bound definition where the run was enqueued. */
    definition: z.string().regex(/^[\da-f]{64}$/, 'is not the hash of a definition'),
    /** Texts of a command line, or values that JSON can hold. */
    params: z.record(z.string(), z.json()),
    /** Parameters that `definition` was hashed with, if others: defaults of a schedule may depend on the day. */
    definedBy: z.record(z.string(), z.json()).optional(),
    /** resume: go on with the pipeline's unfinished run. */
    options: z.strictObject({
      fresh: z.boolean(),
      fullRefresh: z.boolean(),
      resume: z.boolean(),
      /** Tables whose guard is ignored. */
      allowShrink: z.array(z.string()),
    }),
    /** Key under which a second job is not added while the first waits or runs. */
    dedupe: z.string().min(1).optional(),
    /** The span that put it on the queue. */
    trace: traceSchema,
  })
  .refine(isStorable, 'a text contains a NUL or half of a character');

export type RunRequest = z.output<typeof requestSchema>;

const count = (least: number) => z.int().min(least);

const segmentsSchema = z.strictObject({
  segments: z
    .array(
      z.strictObject({
        fileId: count(0),
        start: z.strictObject({ byte: count(0), line: count(1), record: count(1) }),
        byteEnd: count(0).nullable(),
      }),
    )
    .min(1)
    .max(segmentsPerJobMax),
  pieceBytes: count(1).optional(),
  /** Of the coordinator that cut the segments. */
  generation: count(1),
  /** The coordinator's span of loading. */
  trace: traceSchema,
});

const read = <Schema extends z.ZodType>(schema: Schema, data: unknown, jobId: string): z.output<Schema> => {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const problem = [issue.path.join('.'), issue.message].filter(Boolean).join(': ');
  throw new EtlError('ETL_JOB_INVALID', { job: jobId, problem }, { cause: parsed.error });
};

/** Reads a job of the queue of runs. Errors: ETL_JOB_INVALID. */
export const readRunRequest = (data: unknown, jobId: string): RunRequest => read(requestSchema, data, jobId);

/** Reads a job of a load queue. Errors: ETL_JOB_INVALID. */
export const readSegmentJob = (data: unknown, jobId: string): z.output<typeof segmentsSchema> =>
  read(segmentsSchema, data, jobId);
