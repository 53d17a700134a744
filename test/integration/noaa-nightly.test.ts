// The nightly example on real months: what each partition holds is what a plain program counts in the files.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runPipeline } from '../../src/index.ts';
import nightly from '../../pipelines/noaa-nightly.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const directory = join(files.directory, 'data/noaa');
mkdirSync(directory, { recursive: true });

const nameOf = (month: number): string => `20110${month}hourly.txt`;
const arrive = (month: number): void =>
  copyFileSync(join('data/noaa', nameOf(month)), join(directory, nameOf(month)));

const run = async () => {
  const { outcome, tables } = await runPipeline(nightly, {
    databaseUrl: database.url,
    workingDirectory: files.directory,
    workers: 1,
  });
  return [outcome, tables[0]!.strategy, tables[0]!.files, tables[0]!.rows];
};

/** Records of a month, and sums of temperature and rain in hundredths: fields of plain lines, counted from 0. */
const countMonth = (month: number): string => {
  const [, ...lines] = readFileSync(join(directory, nameOf(month)), 'latin1')
    .trimEnd()
    .split('\n');
  const sum = (place: number): number =>
    lines.reduce((total, line) => {
      const value = Number(line.split(',')[place]!.trim() || 'M');
      return total + (Number.isNaN(value) ? 0 : Math.round(value * 100));
    }, 0);
  return `observation_2011_0${month} ${lines.length} ${sum(10)} ${sum(40)}`;
};

const partitions = async (): Promise<unknown[]> =>
  (
    await database.query(`select concat_ws(' ', p.relname, count(o.wban), 100 * sum(o.dry_bulb_f), round(100 * sum(o.rain_in))) as text
      from pg_inherits join pg_class p on p.oid = inhrelid left join noaa_nightly.observation o on o.tableoid = p.oid
      where inhparent = 'noaa_nightly.observation'::regclass group by p.relname order by p.relname`)
  ).rows.map(({ text }) => text);

it('appends months night by night, also one that is late and one that is corrected', async () => {
  arrive(2);
  arrive(3);
  await expect(run()).resolves.toEqual(['published', 'partitions', 2, expect.any(Number)]);
  expect(await partitions()).toEqual([2, 3].map(countMonth));
  arrive(1);
  arrive(4);
  await expect(run()).resolves.toEqual(['published', 'append', 2, 3_501]);
  await expect(run()).resolves.toMatchObject({ 0: 'unchanged' });
  const corrected = join(directory, nameOf(3));
  writeFileSync(corrected, readFileSync(corrected, 'latin1').replace(/\n[^\n]+\n$/, '\n'), 'latin1');
  arrive(5);
  arrive(6);
  await expect(run()).resolves.toEqual(['published', 'append', 3, 5_275]);
  expect(await partitions()).toEqual([1, 2, 3, 4, 5, 6].map(countMonth));
});
