// `etl notifications [list|send]`: lists notifications with their delivery, and sends pending ones.

import type { Command } from 'commander';
import type { Delivery, DeliveryState } from '../../report/notify/outbox.ts';
import { plural, visibleJson } from '../../core/wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseChoice, parseCount, parseString, readFlag, readSwitch } from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import { widthOf, type Io } from '../io.ts';
import { askServer, databaseUrlFlag, openServer } from '../server.ts';
import { formatDate } from '../../core/amounts.ts';
import { alignRows, clip, visibleText } from '../layout.ts';

const examples = `
A receiver is shown as the name of the variable that holds its URL. Workers and runs deliver on their own; \`send\` delivers now,
and needs the same variables. See docs/guide/notifications.md.

Examples:
  $ etl notifications
  $ etl notifications list --state 'given up' --json
  $ etl notifications send --given-up`;

const states: readonly DeliveryState[] = ['pending', 'delivered', 'given up'];
const listedMax = 10_000;
const listedDefault = 20;

/** As long as a receiver may need for all of them. */
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

const list = async (command: Command, io: Io): Promise<void> => {
  const limit = readFlag(command, 'limit', parseCount(listedMax), io) ?? listedDefault;
  const pipeline = readFlag(command, 'pipeline', parseString, io);
  const state = readFlag(command, 'state', parseChoice(states), io);
  const { listDeliveries } = await import('../../report/notify/outbox.ts');
  const wanted = { limit, pipeline, state };
  const found = (await askServer(command, io, (client) => listDeliveries(client, wanted))) ?? [];
  if (readSwitch(command, 'json', io)) {
    io.stdout.write(`${visibleJson(found)}\n`);
    return;
  }
  const rows = [
    ['at', 'event', 'pipeline', 'run', 'receiver', 'state', 'tries', 'problem'],
    ...found.map(rowOf),
  ];
  const lines = alignRows(rows, ['left', 'left', 'left', 'right', 'left', 'left', 'right', 'left']);
  const shown = found.length === 0 ? ['no notifications'] : lines;
  io.stdout.write(shown.map((line) => `${clip(line, widthOf(io.stdout))}\n`).join(''));
};

const send = async (command: Command, io: Io): Promise<void> => {
  const givenUp = readSwitch(command, 'givenUp', io);
  const { withClient } = await import('../../db/client.ts');
  const { sendNow } = await import('../../tools/send-now.ts');
  const sent = await withInterrupt(
    () => undefined,
    async ({ abort }) =>
      withClient(await openServer(command, io), (client) =>
        sendNow(client, { givenUp, signal: abort, untilMs: sendMs }),
      ),
  );
  const { delivered, pending, missing } = sent;
  if (readSwitch(command, 'json', io)) {
    io.stdout.write(`${visibleJson(sent)}\n`);
    return;
  }
  const without = missing.length === 0 ? '' : `; not set here: ${missing.map(visibleText).join(', ')}`;
  io.stdout.write(
    `Delivered ${plural(delivered, 'notification')}; ${pending} pending, ${sent.givenUp} given up${without}\n`,
  );
};

export const notificationsCommand: CliCommand = {
  name: 'notifications',
  register(program, io) {
    const group = program
      .command('notifications')
      .summary('list notifications, and send pending ones')
      .description('Lists notifications with the state of their delivery, and sends pending ones.')
      .usage('<command> [options]')
      .addHelpText('after', examples);
    const add = (name: string, description: string, isDefault = false): Command =>
      group
        .command(name, { isDefault })
        .description(description)
        .addOption(databaseUrlFlag())
        .addOption(flag('--json', 'print JSON'))
        .addOption(flag('--debug', 'print stack traces and causes of errors'));
    add('list', 'Lists notifications, newest first, and why some are still pending.', true)
      .addOption(flag('--pipeline <name>', 'only of this pipeline'))
      .addOption(flag('--state <state>', 'only those in this state', states))
      .addOption(flag('--limit <n>', `list at most this many; default: ${listedDefault}`))
      .action((_, command: Command) => list(command, io));
    add('send', 'Sends pending notifications now, for a minute at most.')
      .addOption(flag('--given-up', 'also those that were given up'))
      .action((_, command: Command) => send(command, io));
  },
};
