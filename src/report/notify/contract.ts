// What a channel is: how a notification becomes a request. Adding one is a file here and a line in registry.ts.

import type { Notification } from '../../core/declaration/notification.ts';

/** One attempt to deliver a notification. */
export interface Attempt {
  /** The same in every attempt, so that receivers can tell a repetition. */
  readonly id: string;
  readonly at: Date;
  readonly notification: Notification;
  /** Value of the receiver's secret, if it has one. */
  readonly secret: string | undefined;
}

export interface ChannelRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A way to tell a receiver, by one POST to its URL. */
export interface Channel {
  /** Whether a receiver may have a secret. */
  readonly isSigned: boolean;
  /** Throws UnusableSecret. */
  readonly request: (attempt: Attempt) => ChannelRequest;
}

/** The value of a secret is not of the form that its channel needs. */
export class UnusableSecret extends Error {}
