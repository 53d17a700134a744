// All channels. To add one: a file beside this one, and a line here.

import type { Channel } from './contract.ts';
import { slackChannel } from './slack.ts';
import { webhookChannel } from './webhook.ts';

export const channels = { webhook: webhookChannel, slack: slackChannel } as const satisfies Readonly<
  Record<string, Channel>
>;

export type ChannelName = keyof typeof channels;

/** Returns undefined if only a newer version of sluice knows the channel. */
export const channelOf = (name: string): Channel | undefined =>
  Object.hasOwn(channels, name) ? channels[name as ChannelName] : undefined;
