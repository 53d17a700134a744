// Process and server are killed while corrections of rejected records are loaded: each is loaded once, and none is lost.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { expectNoSessions, expectWhole, outcomeOf, stateOf, type Outcome } from '../helpers/fault-outcome.ts';
import { byName, correctionEffectPoint, correctionPoints, effectPoint } from '../helpers/fault-points.ts';
import { runThrough } from '../helpers/fault-recovery.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, openScene, useScene, type Scene } from '../helpers/fault-scene.ts';

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

// By default every second effect; FAULT_EVERY=1 takes all.
const every = Number(process.env['FAULT_EVERY']) || 2;

describe('etl is killed at every second effect', () => {
  it('of the exchange of rejects for corrections: the next run comes to the same', async () => {
    const { url } = scene();
    await correct(url);
    let kills = 0;
    do {
      kills += 1;
      const point = correctionEffectPoint(1 + (kills - 1) * every);
      expect((await scene().runStruck(point, killChild)).end).toBe('SIGKILL');
      await expectNoSessions(url);
    } while ((await stateOf(url)) === 'loading');
    expect(kills * every).toBeGreaterThan(10);
    const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
    expect(outcome).toBe('published');
    await expectCorrected(scene());
  });

  it('of `etl rejects replay`: it has kept all corrections, or none', async () => {
    const { url, proxy, etl, run } = scene();
    expectEnd(await run(), 0);
    const directory = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
    const file = join(directory, 'rejects.csv');
    try {
      expectEnd(await etl('rejects', 'export', '--table', 'observation', '--output', file).ended, 0);
      const text = readFileSync(file, 'utf8');
      const records = text.match(/,none,/g)!.length;
      writeFileSync(file, text.replaceAll(',none,', ',0,'));
      const seen: number[] = [];
      for (let n = 1; ; n += every) {
        proxy.arm(effectPoint(n), (...struck) => killChild(child)(...struck));
        const child = etl('rejects', 'replay', file);
        const { end } = await child.ended;
        proxy.disarm();
        await expectNoSessions(url);
        const [kept] = await ask<{ n: number }>(url, 'select count(*)::int as n from etl.correction');
        seen.push(kept!.n);
        if (end !== 'SIGKILL') break;
      }
      expect(seen.length * every).toBeGreaterThan(10);
      expect(new Set(seen)).toEqual(new Set([0, records]));
      expectEnd(await run(), 0);
      expect((await outcomeOf(url)).rejects).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('the server crashes and comes back', () => {
  it.each(byName(correctionPoints))('%s: etl comes to the same', async (_, point) => {
    await correct(scene().url);
    const { ended } = await runThrough(scene(), point);
    expectEnd(ended, 0);
    expect(eventsOf(ended, 'recovered')).toMatchObject([{ crashed: true }]);
    await expectCorrected(scene());
  });
});
