// The interface of channels, which turn notifications into HTTP requests.

import type { Notification } from '../../core/notification.ts';

export interface Attempt {
  /** Id of the notification, by which a receiver recognizes a repeated attempt. */
  readonly id: string;
  readonly at: Date;
  readonly notification: Notification;
  readonly secret: string | undefined;
}

export interface ChannelRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Channel {
  /** True if a receiver may have a secret, with which requests are signed. */
  readonly isSigned: boolean;
  /** Throws UnusableSecret. */
  readonly request: (attempt: Attempt) => ChannelRequest;
}

export class UnusableSecret extends Error {}
