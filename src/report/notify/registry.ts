// Every channel by its name. A new one is one file and one line here.

import type { Channel } from './contract.ts';
import { slackChannel } from './slack.ts';
import { webhookChannel } from './webhook.ts';

export const channels = { webhook: webhookChannel, slack: slackChannel } as const satisfies Readonly<
  Record<string, Channel>
>;

export type ChannelName = keyof typeof channels;

/** Undefined for one that a newer version has recorded. */
export const channelOf = (name: string): Channel | undefined =>
  Object.hasOwn(channels, name) ? channels[name as ChannelName] : undefined;
