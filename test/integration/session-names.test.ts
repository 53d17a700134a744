// Session names, as the server sees them: which sessions belong to one process.

import { expect, it } from 'vitest';
import { runSessionName, watchSessionName, watchSessionOf } from '../../src/db/connect/session-names.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

it.each(['p', 'a_pipeline_with_a_name_that_is_longer_than_the_server_would_show', 'sluice'])(
  'the sessions of a run of %s lead to that of their worker',
  async (pipeline) => {
    const name = runSessionName(pipeline);
    const { rows } = await database.query(
      `select ${watchSessionOf('shown')} as worker, octet_length(shown) as bytes from (values ($1::text)) v (shown)`,
      [name],
    );
    expect(rows[0]?.['worker']).toBe(watchSessionName);
    // The server cuts longer names.
    expect(rows[0]?.['bytes']).toBeLessThan(64);
    expect(runSessionName(pipeline)).not.toBe(name);
  },
);

it('no other session leads to a worker', async () => {
  const { rows } = await database.query(
    `select ${watchSessionOf('shown')} as worker from (values ('sluice'), ('sluice queue'), ('psql')) v (shown)`,
  );
  expect(rows.map(({ worker }) => worker as unknown)).toEqual([null, null, null]);
});
