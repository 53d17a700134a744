// The channel for incoming webhooks of Slack, and of compatible chats such as Mattermost.

import type { Notification } from '../../core/notification.ts';
import { formatCount, onOneLine, plural, visible } from '../../core/wording.ts';
import type { Channel } from './contract.ts';

/** Slack truncates longer texts. */
const textMax = 3_000;

/** Escapes as https://docs.slack.dev/messaging/formatting-message-text says ("Escaping text"). */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const headline = ({ type, data }: Notification): string => {
  const run = data.run === null ? '' : ` (run ${data.run})`;
  const rejected = data.tables.reduce((sum, table) => sum + table.rejected, 0);
  const headlines: Readonly<Record<Notification['type'], string>> = {
    failed: `failed${run}`,
    published: data.rolledBackTo === null ? `was published${run}` : `was rolled back${run}`,
    rejects: `rejected ${plural(rejected, 'record')}${run}`,
    late: `is late: schedule ${data.schedule?.name}, slot ${data.schedule?.slot}, ${data.schedule?.outcome}`,
  };
  return `*${data.pipeline ?? 'A run'}* ${headlines[type]}`;
};

const detailLines = ({ type, data }: Notification): readonly string[] => {
  if (data.error !== null && type !== 'rejects')
    return [visible(`${data.error.code}: ${data.error.message}`, '\n'), onOneLine(data.error.hint)];
  if (type === 'published')
    return data.tables.map(({ table, rows }) => onOneLine(`${table}: ${plural(rows ?? 0, 'row')}`));
  return data.rejects.map(({ table, column, code, records, file, line }) =>
    onOneLine(
      `${table}${column === null ? '' : `.${column}`} ${code}: ${formatCount(records)}, first at ${file}:${line}`,
    ),
  );
};

export const slackChannel: Channel = {
  isSigned: false,
  request: ({ notification }) => {
    const text = escaped([headline(notification), ...detailLines(notification)].join('\n'));
    return { headers: {}, body: JSON.stringify({ text: text.slice(0, textMax) }) };
  },
};
