// `etl rejects replay|withdraw`: stores corrected records for the next run, or deletes them.

import type { Client } from '../../db/client.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { command } from '../command.ts';
import { argument, databaseUrl, printing } from '../inputs.ts';
import { openKnownServer, type GivenServer } from '../server.ts';
import { visibleText } from '../layout.ts';

const withLedger = async <T>(given: GivenServer, work: (client: Client) => Promise<T>): Promise<T> => {
  const { withClient } = await import('../../db/client.ts');
  const { migrate } = await import('../../db/bookkeeping/migrate.ts');
  return withClient(await openKnownServer(given), async (client) => {
    await migrate(client);
    return work(client);
  });
};

export const replayCommand = command({
  name: 'replay',
  description: 'Stores corrected records, which the next run loads in place of the rejected ones.',
  takes: {
    file: argument('<file>', 'CSV that `etl rejects export` wrote, corrected'),
    databaseUrl,
    ...printing('print what was stored as JSON'),
  },
  help: `
Correct the fields in a file of \`etl rejects export\`, and leave the columns before them unchanged. The next run of the pipeline
loads the corrected records in place of the rejected ones, with every check, and so does every later run until the source file
changes. Records that you delete from the file stay rejected. So do records with text in _record: clear that column after you
fill in the fields. Replaying a file again changes nothing; a later correction of a record replaces an earlier one.

Examples:
  $ etl rejects export 12 --table price --output prices.csv
  $ etl rejects replay prices.csv && etl run pipelines/shop.ts`,
  async act(given) {
    const { readCorrections } = await import('../../tools/read-corrections.ts');
    const kept = await withLedger(given, (client) =>
      readCorrections(client, given.file, given.io.workingDirectory),
    );
    const { corrections, added, uncorrected, table, runId, pipeline } = kept;
    const known = corrections - added;
    const what = `${plural(corrections, 'corrected record')} of table ${visibleText(table)}, run ${runId}`;
    return {
      json: [kept],
      lines: () => [
        known > 0 ? `${what}, ${formatCount(known)} of them stored before` : what,
        ...(uncorrected > 0
          ? [
              `${plural(uncorrected, 'record')} not corrected: fill in the fields and clear the column _record`,
            ]
          : []),
        ...(added > 0 ? [`The next run of pipeline ${visibleText(pipeline)} loads them.`] : []),
      ],
    };
  },
});

export const withdrawCommand = command({
  name: 'withdraw',
  description: 'Withdraws corrections that no run has loaded.',
  takes: {
    file: argument('<file>', 'CSV of their records, as it was given to `etl rejects replay`'),
    databaseUrl,
    ...printing('print what was withdrawn as JSON'),
  },
  help: `
The file is the one given to \`etl rejects replay\`, or an export of the same run: only the places of its records matter. The
records stay rejected. If a run has already loaded one of the corrections, nothing is withdrawn: replace the correction with
\`etl rejects replay\`.

Examples:
  $ etl rejects withdraw prices.csv
  $ etl rejects export 12 --table price --output all.csv && etl rejects withdraw all.csv`,
  async act(given) {
    const { takeBackCorrections } = await import('../../tools/read-corrections.ts');
    const taken = await withLedger(given, (client) =>
      takeBackCorrections(client, given.file, given.io.workingDirectory),
    );
    const { records, withdrawn, table, runId } = taken;
    const others = records - withdrawn;
    const rest = others > 0 ? `; ${formatCount(others)} of ${plural(records, 'record')} had none` : '';
    return {
      json: [taken],
      lines: () => [
        `${plural(withdrawn, 'correction')} of table ${visibleText(table)}, run ${runId}, withdrawn${rest}`,
      ],
    };
  },
});
