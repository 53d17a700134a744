// `etl rejects withdraw <file>`: withdraws corrections that no run has loaded.

import type { Command } from 'commander';
import { formatCount, plural, visibleJson } from '../../core/wording.ts';
import { readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { openServer } from '../server.ts';
import { visibleText } from '../layout.ts';

export const withdrawExamples = `
The file is the one given to \`etl rejects replay\`, or an export of the same run: only the places of its records matter. The
records stay rejected. If a run has loaded one of the corrections, nothing is withdrawn: replace it with \`etl rejects replay\`.

Examples:
  $ etl rejects withdraw prices.csv
  $ etl rejects export 12 --table price --output all.csv && etl rejects withdraw all.csv`;

/** Takes back the corrections of the records in a file. */
export const withdrawRejects = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const { withClient } = await import('../../db/client.ts');
  const { migrate } = await import('../../db/bookkeeping/migrate.ts');
  const { takeBackCorrections } = await import('../../tools/read-corrections.ts');
  const taken = await withClient(await openServer(command, io), async (client) => {
    await migrate(client);
    return takeBackCorrections(client, file, io.workingDirectory);
  });
  if (json) {
    io.stdout.write(`${visibleJson(taken)}\n`);
    return;
  }
  const { records, withdrawn, table, runId } = taken;
  const others = records - withdrawn;
  const rest = others > 0 ? `; ${formatCount(others)} of ${plural(records, 'record')} had none` : '';
  io.stdout.write(
    `${plural(withdrawn, 'correction')} of table ${visibleText(table)}, run ${runId}, withdrawn${rest}\n`,
  );
};
