// Schemas of job data. It is checked when a job is received: other programs can write to a queue.

import { z } from 'zod';
import { EtlError } from '../core/errors/errors.ts';
import { segmentsPerJobMax, traceStateCharsMax } from '../core/limits.ts';

/** Matches NULs and unpaired surrogates. PostgreSQL cannot store them: every attempt would fail. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][\da-f]{2})/i;

const isStorable = (value: unknown): boolean => !unstorable.test(JSON.stringify(value) ?? '');

/** W3C Trace Context; undefined without tracing. */
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
  // An invalid trace must not prevent the job.
  .catch(undefined);

const requestSchema = z
  .strictObject({
    pipeline: z.string().min(1),
    /** Definition hash of the pipeline in the process that enqueued the run. */
    definition: z.string().regex(/^[\da-f]{64}$/, 'is not the hash of a definition'),
    params: z.record(z.string(), z.json()),
    /**
     * Parameters for which `definition` was computed, if they differ from `params`: a default may
     * be the current date.
     */
    definedBy: z.record(z.string(), z.json()).optional(),
    options: z.strictObject({
      fresh: z.boolean(),
      fullRefresh: z.boolean(),
      resume: z.boolean(),
      /** Tables whose guard is ignored. */
      allowShrink: z.array(z.string()),
    }),
    /** While a job with this key waits or runs, no other job with the key is added. */
    dedupe: z.string().min(1).optional(),
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
  generation: count(1),
  trace: traceSchema,
});

const read = <Schema extends z.ZodType>(schema: Schema, data: unknown, jobId: string): z.output<Schema> => {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const problem = [issue.path.join('.'), issue.message].filter(Boolean).join(': ');
  throw new EtlError('ETL_JOB_INVALID', { job: jobId, problem }, { cause: parsed.error });
};

/** Checks the data of a run's job. Errors: ETL_JOB_INVALID. */
export const readRunRequest = (data: unknown, jobId: string): RunRequest => read(requestSchema, data, jobId);

/** Checks the data of a job that loads segments. Errors: ETL_JOB_INVALID. */
export const readSegmentJob = (data: unknown, jobId: string): z.output<typeof segmentsSchema> =>
  read(segmentsSchema, data, jobId);
