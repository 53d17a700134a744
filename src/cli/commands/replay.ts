// `etl rejects replay <file>`: stores corrected records, which the next run loads.

import type { Command } from 'commander';
import { formatCount, plural, visibleJson } from '../../core/wording.ts';
import { readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { openServer } from '../server.ts';
import { visibleText } from '../layout.ts';

export const replayExamples = `
The file is one that \`etl rejects export\` wrote, with the fields corrected and the columns before them unchanged. The next run of the
pipeline loads the corrected records in place of the rejected ones, with every check, and so does every later run while the
source file is unchanged. Records deleted from it stay rejected, and so do those with text in _record: clear that column once
you have filled in the fields. Replaying the same file again changes nothing; of two corrections of a record, the later one counts.

Examples:
  $ etl rejects export 12 --table price --output prices.csv
  $ etl rejects replay prices.csv && etl run pipelines/shop.ts`;

/** Keeps the corrections of a file, and says what to do next. */
export const replayRejects = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const { withClient } = await import('../../db/client.ts');
  const { migrate } = await import('../../db/bookkeeping/migrate.ts');
  const { readCorrections } = await import('../../tools/read-corrections.ts');
  const kept = await withClient(await openServer(command, io), async (client) => {
    await migrate(client);
    return readCorrections(client, file, io.workingDirectory);
  });
  if (json) {
    io.stdout.write(`${visibleJson(kept)}\n`);
    return;
  }
  const { corrections, added, uncorrected, table, runId, pipeline } = kept;
  const known = corrections - added;
  const lines = [
    `${plural(corrections, 'corrected record')} of table ${visibleText(table)}, run ${runId}${known > 0 ? `, ${formatCount(known)} of them kept before` : ''}`,
    ...(uncorrected > 0
      ? [
          `${plural(uncorrected, 'record')} not corrected: column _record has a text; empty it after its fields are filled in`,
        ]
      : []),
    ...(added > 0 ? [`The next run of pipeline ${visibleText(pipeline)} loads them.`] : []),
  ];
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
};
