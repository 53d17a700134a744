// Process and server are killed while corrections of rejected records are loaded: each is loaded once, and none is lost.

import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { expectNoSessions, expectWhole, outcomeOf, type Outcome } from '../helpers/fault-outcome.ts';
import { byName, correctionPoints } from '../helpers/fault-points.ts';
import { whileClosed } from '../helpers/fault-recovery.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, openScene, useScene, type Scene } from '../helpers/fault-scene.ts';
import { restarts } from '../helpers/fault-server.ts';

const scene = useScene();

/** The damaged field of every reject is made good (fault-files.ts); in every third it is damaged otherwise. */
const selectCorrections = `
  select 'noaa' as pipeline, r.table_name, f.source, f.location, f.fingerprint, f.location as file_key, r.byte, f.header,
    string_to_array(replace(r.raw, ',none,', case row_number() over (order by f.id, r.byte) % 3 when 0 then ',bad,' else ',0,' end), ',') as fields,
    'corrected.csv' as from_file, r.line as from_line
  from etl.reject r join etl.source_file f on f.id = r.file_id where r.run_id = (select max(id) from etl.run)`;

let corrections = '';
let corrected: Outcome;

/** Puts the corrections into a database, before its first run or after it. */
const correct = async (url: string): Promise<void> => {
  await withClient(addressFromUrl(url), (client) => migrate(client));
  await ask(
    url,
    `insert into etl.correction (pipeline, table_name, source, location, fingerprint, file_key, byte, header, fields, from_file, from_line)
      select * from jsonb_to_recordset($1::jsonb) as c (pipeline text, table_name text, source text, location text, fingerprint text,
        file_key text, byte bigint, header text[], fields text[], from_file text, from_line bigint)`,
    [corrections],
  );
};

/** What an undisturbed run makes with corrections. */
const prepare = async (first: Scene): Promise<void> => {
  expectEnd(await first.run(), 0);
  const [rows] = await ask<{ rows: object[] }>(
    first.url,
    `select jsonb_agg(to_jsonb(c)) as rows from (${selectCorrections}) c`,
  );
  corrections = JSON.stringify(rows!.rows);
  await correct(first.url);
  expectEnd(await first.run(), 0);
  corrected = await outcomeOf(first.url);
};

beforeAll(async () => {
  const first = await openScene(inject('smallData'));
  try {
    await prepare(first);
  } finally {
    await first.close();
  }
});

const expectCorrected = async ({ url }: Scene): Promise<void> => {
  await expectNoSessions(url);
  await expectWhole(url, corrected);
};

it('an undisturbed run copies some of the rejects, and the others stay rejects', () => {
  const { counts, rejects } = inject('smallData').outcome;
  const left = corrected.counts.rejected;
  expect(left).toBeGreaterThan(0);
  expect(rejects.length).toBeGreaterThan(left);
  expect(corrected.rejects).toHaveLength(left);
  expect(corrected.counts).toEqual({
    ...counts,
    copied: counts.copied + counts.rejected - left,
    rejected: left,
  });
});

describe('etl is killed', () => {
  it.each(byName(correctionPoints))('%s: the next run comes to the same', async (_, point) => {
    await correct(scene().url);
    expect((await scene().runStruck(point, killChild)).end).toBe('SIGKILL');
    const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
    expect(outcome).toBe('published');
    await expectCorrected(scene());
  });
});

describe('the server crashes and comes back', () => {
  it.each(byName(correctionPoints.slice(-2)))('%s: etl comes to the same', async (_, point) => {
    await correct(scene().url);
    const ended = await scene().runStruck(point, () => async () => {
      await whileClosed(scene(), restarts.crash);
      return 'drop' as const;
    });
    expectEnd(ended, 0);
    expect(eventsOf(ended, 'recovered')).toMatchObject([{ crashed: true }]);
    await expectCorrected(scene());
  });
});
