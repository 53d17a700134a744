// The interface of channels, which turn notifications into HTTP requests.

import type { Notification } from '../../core/notification.ts';

export interface Attempt {
  /** The same in every attempt, so that receivers recognize repetitions. */
  readonly id: string;
  readonly at: Date;
  readonly notification: Notification;
  readonly secret: string | undefined;
}

export interface ChannelRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A receiver gets one POST for each notification. */
export interface Channel {
  /** True if a receiver may have a secret, with which requests are signed. */
  readonly isSigned: boolean;
  /** Throws UnusableSecret. */
  readonly request: (attempt: Attempt) => ChannelRequest;
}

export class UnusableSecret extends Error {}
