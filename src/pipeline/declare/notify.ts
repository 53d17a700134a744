// webhook() and slack(): who is notified of the outcome of a pipeline's runs, as written and as checked.

import { z } from 'zod';
import { notifyEvents, type NotifyEvent, type Receiver } from '../../core/declaration/notification.ts';
import { channels, type ChannelName } from '../../report/notify/registry.ts';
import { isSecret, type Secret } from '../../core/declaration/secret.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { choice, mustBe } from '../problems.ts';

/** What nobody who asked for nothing else wants to miss. */
const onDefault: readonly NotifyEvent[] = ['failed', 'late'];

export interface NotifyOptions {
  /** Which events: 'failed', 'published', 'rejects', 'late'. Default: 'failed' and 'late'. */
  readonly on?: readonly NotifyEvent[];
}

export interface WebhookOptions extends NotifyOptions {
  /** The secret that signs its requests, as Standard Webhooks writes them: whsec_ and base64. */
  readonly secret?: Secret;
}

const receiver = (channel: ChannelName, url: Secret, options: WebhookOptions = {}): Receiver =>
  Object.freeze({ kind: 'receiver', channel, url, on: onDefault, ...options });

/**
 * Sends each event as JSON to the URL that an environment variable holds, signed as Standard Webhooks says:
 * `webhook(env('HOOK'), { on: ['failed', 'published'], secret: env('HOOK_SECRET') })`.
 */
export const webhook = (url: Secret, options?: WebhookOptions): Receiver => receiver('webhook', url, options);

/** Sends each event as a few lines of text to an incoming webhook of Slack, or of a chat that takes the same: `slack(env('SLACK'))`. */
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

/** Receivers that are named outside of a pipeline. Errors: ETL_USAGE. */
export const checkReceivers = (given: unknown = []): readonly Receiver[] => {
  const read = notifySchema.safeParse(given);
  if (read.success) return read.data;
  const problem = `notify: ${read.error.issues[0]!.message}`;
  throw new EtlError('ETL_USAGE', { problem, hint: "Example: notify: [webhook(env('HOOK'))]" });
};
