// webhook() and slack(): declare who is notified of the outcome of a pipeline's runs, and check it.

import { z } from 'zod';
import { notifyEvents, type NotifyEvent, type Receiver } from '../../core/notification.ts';
import { channels, type ChannelName } from '../../report/notify/registry.ts';
import { isSecret, type Secret } from '../../core/secret.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { choice, mustBe } from '../problems.ts';

const onDefault: readonly NotifyEvent[] = ['failed', 'late'];

/** Options of slack() and webhook(). */
export interface NotifyOptions {
  /**
   * Events to send. failed: a run failed · published: a run was published · rejects: a run rejected
   * records · late: a scheduled run is late. Default: ['failed', 'late'].
   */
  readonly on?: readonly NotifyEvent[];
}

/** Options of webhook(). */
export interface WebhookOptions extends NotifyOptions {
  /** Secret that signs the requests, in the format of Standard Webhooks: whsec_ and base64. */
  readonly secret?: Secret;
}

const receiver = (channel: ChannelName, url: Secret, options: WebhookOptions = {}): Receiver =>
  Object.freeze({ kind: 'receiver', channel, url, on: onDefault, ...options });

/**
 * Sends events as JSON to a URL, signed according to Standard Webhooks if `secret` is set:
 * `webhook(env('HOOK'), { on: ['failed', 'published'], secret: env('HOOK_SECRET') })`.
 *
 * @param url the environment variable that contains the URL.
 */
export const webhook = (url: Secret, options?: WebhookOptions): Receiver => receiver('webhook', url, options);

/**
 * Sends events as short texts to an incoming webhook of Slack, or of a compatible chat:
 * `slack(env('SLACK'))`.
 *
 * @param url the environment variable that contains the URL of the incoming webhook.
 */
export const slack = (url: Secret, options?: NotifyOptions): Receiver => receiver('slack', url, options);

const secretSchema = z.custom<Secret>(
  isSecret,
  mustBe("env('NAME'), the name of the environment variable that holds it"),
);

const receiverSchema = z
  .custom<Receiver>(
    (value) => (value as Receiver | null | undefined)?.kind === 'receiver',
    mustBe("webhook(env('NAME')) or slack(env('NAME'))"),
  )
  .pipe(
    z.strictObject({
      kind: z.literal('receiver'),
      channel: z.enum(Object.keys(channels) as ChannelName[]),
      url: secretSchema,
      secret: secretSchema.optional(),
      on: z.array(choice(notifyEvents), mustBe('a list of events')).min(1, 'names no event'),
    }),
  )
  .refine(({ channel, secret }) => secret === undefined || channels[channel].isSigned, {
    error: 'has a secret, but requests of its channel are not signed',
  });

export const notifySchema = z.array(receiverSchema, mustBe('a list such as [webhook(env(…))]'));

/** Checks receivers that are declared outside of a pipeline. Errors: ETL_USAGE. */
export const checkReceivers = (given: unknown = []): readonly Receiver[] => {
  const read = notifySchema.safeParse(given);
  if (read.success) return read.data;
  const problem = `notify: ${read.error.issues[0]!.message}`;
  throw new EtlError('ETL_USAGE', { problem, hint: "Example: notify: [webhook(env('HOOK'))]" });
};
