// `etl notifications [list|send]`: lists notifications with their delivery, and sends pending ones.

import type { Delivery, DeliveryState } from '../../report/notify/outbox.ts';
import { plural } from '../../core/wording.ts';
import { command, group } from '../command.ts';
import { choice, countFlag, databaseUrl, printing, textFlag, toggle } from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { askServer, openKnownServer } from '../server.ts';
import { formatDate } from '../../core/amounts.ts';
import { alignRows, clip, visibleText } from '../layout.ts';

const states: readonly DeliveryState[] = ['pending', 'delivered', 'given up'];
const listedMax = 10_000;
const listedDefault = 20;

const sendMs = 60_000;

const stateText = ({ state, nextAt, attempts }: Delivery): string =>
  state === 'pending' && attempts > 0 && nextAt !== null ? `pending, again ${formatDate(nextAt)}` : state;

const rowOf = (one: Delivery): string[] => [
  formatDate(one.createdAt),
  one.event,
  visibleText(one.pipeline ?? ''),
  one.run === null ? '' : String(one.run),
  visibleText(`${one.channel} ${one.receiver}`),
  stateText(one),
  String(one.attempts),
  visibleText(one.problem ?? ''),
];

const titles = ['at', 'event', 'pipeline', 'run', 'receiver', 'state', 'tries', 'problem'];

const listCommand = command({
  name: 'list',
  description: 'Lists notifications, newest first, and why some are still pending.',
  isDefault: true,
  takes: {
    databaseUrl,
    ...printing(),
    pipeline: textFlag('--pipeline <name>', 'only notifications of this pipeline'),
    state: choice('--state <state>', 'only notifications in this state', states),
    limit: countFlag('--limit <n>', `list at most this many; default: ${listedDefault}`, listedMax),
  },
  async act(given) {
    const { pipeline, state, limit = listedDefault } = given;
    const { listDeliveries } = await import('../../report/notify/outbox.ts');
    const wanted = { limit, pipeline, state };
    const found = (await askServer(given, (client) => listDeliveries(client, wanted))) ?? [];
    return {
      json: [found],
      lines: ({ width }) => {
        if (found.length === 0) return ['no notifications'];
        const rows = [titles, ...found.map(rowOf)];
        const lines = alignRows(rows, ['left', 'left', 'left', 'right', 'left', 'left', 'right', 'left']);
        return lines.map((line) => clip(line, width));
      },
    };
  },
});

const sendCommand = command({
  name: 'send',
  description: 'Sends pending notifications now, for a minute at most.',
  takes: {
    databaseUrl,
    ...printing(),
    givenUp: toggle('--given-up', 'also notifications that were given up'),
  },
  async act(given) {
    const { withClient } = await import('../../db/client.ts');
    const { sendNow } = await import('../../tools/send-now.ts');
    const sent = await withInterrupt(
      () => undefined,
      async ({ abort }) =>
        withClient(await openKnownServer(given), (client) =>
          sendNow(client, { givenUp: given.givenUp, signal: abort, untilMs: sendMs }),
        ),
    );
    const { delivered, pending, givenUp, missing } = sent;
    const without = missing.length === 0 ? '' : `; variables not set: ${missing.map(visibleText).join(', ')}`;
    return {
      json: [sent],
      lines: () => [
        `Delivered ${plural(delivered, 'notification')}; ${pending} pending, ${givenUp} given up${without}`,
      ],
    };
  },
});

export const notificationsCommand = group(
  {
    name: 'notifications',
    summary: 'list notifications, and send pending ones',
    description: 'Lists notifications with the state of their delivery, and sends pending ones.',
    help: `
Shows a receiver by the name of the variable with its URL. Workers and runs deliver notifications by themselves; \`send\` delivers
them now, and needs the same variables. See docs/guide/notifications.md.

Examples:
  $ etl notifications
  $ etl notifications list --state 'given up' --json
  $ etl notifications send --given-up`,
  },
  [listCommand, sendCommand],
);
