// Every major version that is promised: sessions get what it has, in one statement, and its log has nothing to complain of.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { runPipeline } from '../../src/index.ts';
import noaa from '../../pipelines/noaa.ts';
import nightly from '../../pipelines/noaa-nightly.ts';
import { olderMajors } from '../helpers/major-server.ts';
import { startOwnServer } from '../helpers/own-server.ts';

/** Only Linux lets the server look whether its client is gone. */
const connectionCheck: unknown = process.platform === 'linux' ? '2s' : expect.any(String);

it.each(Object.keys(olderMajors))(
  'PostgreSQL %s takes what a session begins with, and a run leaves no error in its log',
  async (major) => {
    const settings = { log_statement: 'all', log_line_prefix: '%p|%a|', timezone: 'UTC' };
    const own = await startOwnServer(settings, major);
    try {
      const { url } = own.server;
      const log = (): Promise<string> => readFile(own.logFile, 'utf8');
      const shown = await withClient(addressFromUrl(url), (client) =>
        client.query(`select current_setting('search_path') as path, current_setting('client_connection_check_interval') as check,
          current_setting('transaction_timeout', true) as transaction, current_setting('server_version') as version`),
      );
      expect(shown.rows).toEqual([
        {
          path: 'pg_catalog, pg_temp',
          check: connectionCheck,
          transaction: Number(major) < 17 ? null : '0',
          version: expect.stringMatching(new RegExp(`^${major}\\.`)),
        },
      ]);
      // What it begins with, and the question above.
      expect((await log()).match(/\|sluice\|LOG: +statement/g)).toHaveLength(2);
      const place = { databaseUrl: url, redis: false as const, directory: resolve('pipelines') };
      expect(await runPipeline(noaa, { ...place, workers: 1 })).toMatchObject({ outcome: 'published' });
      // Made, and then exchanged, a partition for each month.
      expect(await runPipeline(nightly, { ...place, workers: 2 })).toMatchObject({
        tables: [{ strategy: 'partitions' }],
      });
      expect(await runPipeline(nightly, { ...place, workers: 2, fullRefresh: true })).toMatchObject({
        tables: [{ strategy: 'partitions', rowsBefore: 5_276, rows: 5_276 }],
      });
      expect((await log()).match(/^\d+\|sluice.*(?:ERROR|FATAL|WARNING): .*$/gm)).toBeNull();
    } finally {
      await own.remove();
    }
  },
);
