// `etl run` from a pipeline file to published tables, as the command line shows it.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { openEndingProxy } from '../helpers/ending-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const database = useDatabase();

const { directory: workingDirectory } = useFiles();
const pipelineFile = join(workingDirectory, 'cities.ts');
mkdirSync(join(workingDirectory, 'data'));
// The pipeline imports Zod.
symlinkSync(
  fileURLToPath(new URL('../../node_modules', import.meta.url)),
  join(workingDirectory, 'node_modules'),
);
writeFileSync(
  join(workingDirectory, 'data/cities.csv'),
  'name,people\nKöln,1084831\nBonn,331885\nNowhere,none\n',
);
writeFileSync(join(workingDirectory, 'cities.sql'), 'select count(*)::integer as cities from city\n');
writeFileSync(
  pipelineFile,
  `import { column, csv, definePipeline, sqlFile } from 'sluice';
import { z } from 'zod';
export default definePipeline({
  name: 'cities',
  schema: 'geo',
  params: z.object({ limit: z.coerce.number().default(0) }),
  tables: ({ limit }) => ({
    city: {
      source: csv('data/*.csv'),
      columns: { name: column.text('name'), people: column.integer('people') },
      primaryKey: ['name'],
      rejectLimit: limit,
    },
    total: { from: ['city'], transform: sqlFile('cities.sql'), primaryKey: ['cities'] },
  }),
});
`,
);

const etl = (...args: string[]): Promise<{ exit: number; out: string; err: string }> =>
  etlAt(database.url, ...args);

const etlAt = async (databaseUrl: string, ...args: string[]) => {
  const io = fakeIo({ env: { DATABASE_URL: databaseUrl, ETL_WORKERS: '1' }, workingDirectory });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};

describe('etl run', () => {
  // Each case has an empty database.
  afterEach(() => database.query('drop schema if exists etl, etl_staging, etl_queue, geo cascade'));

  it('is planned without it: which decoder each table gets and why, on an untouched database', async () => {
    const { exit, out, err } = await etl('plan', pipelineFile);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(
      /^geo\.city\n {2}files +all of 1 file to load, \d+ B\n {2}new +1: data\/cities\.csv\n/,
    );
    expect(out).toMatch(/^ {2}decoder +compiled, because it supports the table’s dialect and types$/m);
    expect(out).toMatch(/^geo\.total \(derived\)\n {2}rows +cities\.sql, from city$/m);
    expect(out).toMatch(
      /Everything would be loaded\.\n {2}no run has used this database\n {2}prepared on the server without rows/,
    );
    const { rows } = await database.query(
      `select nspname from pg_namespace where nspname ~ '^(etl|geo)' or nspname = 'etl_staging'`,
    );
    expect(rows).toEqual([]);
  });

  it('is planned with the tables that may shrink', async () => {
    const { out } = await etl('plan', pipelineFile, '--allow-shrink', 'total');
    expect(out.match(/^ {2}guard .*/gm)?.map((line) => line.slice(9).trim())).toEqual([
      'at most 50% fewer than before',
      'at most 50% fewer than before; fewer are allowed this time',
    ]);
    const unknown = await etl('plan', pipelineFile, '--allow-shrink', 'totl');
    expect(unknown).toMatchObject({
      exit: 2,
      err: expect.stringContaining('is not a table of the pipeline; did you mean'),
    });
  });

  it('is planned as one object of JSON', async () => {
    const other = join(workingDirectory, 'other.ts');
    writeFileSync(
      other,
      readFileSync(pipelineFile, 'utf8').replace("column.text('name')", "column.of('inet', 'name')"),
    );
    const { out } = await etl('plan', other, '--json');
    const {
      tables: [city, total],
      ...plan
    } = JSON.parse(out);
    expect(plan).toMatchObject({ outcome: 'load', refusal: null });
    expect(city).toMatchObject({ table: 'city', schema: 'geo', kind: 'source' });
    expect(city.steps).toContainEqual({
      step: 'decoder',
      text: 'compiled to text, because the server reads column name, of type inet',
    });
    expect(total).toMatchObject({ table: 'total', kind: 'derived' });
  });

  it('stops at a reject over the limit with exit 3, naming file, line and column', async () => {
    const { exit, out, err } = await etl('run', pipelineFile);
    expect(exit).toBe(3);
    expect(out).toBe('');
    expect(err).toContain('error ETL_REJECT_LIMIT: table city: 1 of 3 records rejected');
    expect(err).toMatch(/data\/cities\.csv:4 .*people/);
    expect((await etl('rejects', 'list')).out).toMatch(
      /data\/cities\.csv:4: column people: type: .*\n {4}Nowhere,none\n/,
    );
  });

  it('publishes, its summary adds up, and etl status shows it; then nothing is to do, over one connection', async () => {
    const { exit, out, err } = await etl('run', pipelineFile, '--param', 'limit=1');
    expect(exit).toBe(0);
    const [, run] = /^Published cities in .* run (\d+) \(connect /.exec(out) ?? [];
    expect(out).toMatch(/\ngeo\.city +1 +51 B +3 +1 +0 .* 2\ngeo\.total +–.* 1\n/);
    expect(out).toContain(`1 record rejected: see npx etl rejects list ${run}.`);
    expect(err).toMatch(/\[ +\d+\.\d s\] load started\n/);
    const { rows } = await database.query('select name, people from geo.city order by people');
    expect(rows).toEqual([
      { name: 'Bonn', people: 331_885 },
      { name: 'Köln', people: 1_084_831 },
    ]);
    expect((await etl('status')).out).toMatch(new RegExp(`^ *${run} .* published`, 'm'));
    expect((await etl('status', run!)).out).toMatch(/data\/cities\.csv +city +51 B +3 +2 +1 +0\n/);

    const proxy = await openEndingProxy(Number(new URL(database.url).port));
    const again = await etlAt(proxy.urlOf(database.url), 'run', pipelineFile, '--param', 'limit=1');
    await proxy.close();
    expect(again.exit).toBe(0);
    expect(again.out).toMatch(
      /^Nothing to do: files and definition are the same as in run \d+, published \d{4}-.*; --full-refresh loads everything again\.\n$/,
    );
    expect(proxy.connections()).toBe(1);
  });

  it('--json prints events and nothing else, from the first step to the result', async () => {
    const { exit, out, err } = await etl(
      'run',
      pipelineFile,
      '--param',
      'limit=1',
      '--full-refresh',
      '--json',
    );
    expect(exit).toBe(0);
    expect(err).toBe('');
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toContain('planned');
    const last = { type: 'finished', result: { runId: expect.any(Number), outcome: 'published' } };
    expect(events.at(-1)).toMatchObject(last);
    const { runId } = events.at(-1).result;
    const isIso = (time: string): boolean => new Date(time).toISOString() === time;
    expect(events.every(({ time }) => isIso(time))).toBe(true);
    const begun = events.findIndex(({ type }) => type === 'started');
    expect(events.map(({ run }) => run)).toEqual(
      events.map((_, index) => (index < begun ? undefined : runId)),
    );
  });

  it('--quiet prints nothing', async () =>
    expect(await etl('run', pipelineFile, '--param', 'limit=1', '--quiet')).toEqual({
      exit: 0,
      out: '',
      err: '',
    }));

  it('an unknown parameter is a usage error', async () => {
    const { exit, err } = await etl('run', pipelineFile, '--param', 'limt=1');
    expect(exit).toBe(2);
    expect(err).toContain('error ETL_PARAM');
  });

  it('--profile says where the time went', async () => {
    // Long enough to be seen by a look at the server.
    const slow = pipelineFile.replace('.ts', '-slow.ts');
    writeFileSync(slow, readFileSync(pipelineFile, 'utf8').replace('cities.sql', 'slow.sql'));
    const sql = 'select count(*)::integer as cities from city, pg_sleep(0.2)';
    writeFileSync(join(workingDirectory, 'slow.sql'), sql);
    const args = ['run', slow, '--param', 'limit=1', '--full-refresh', '--profile'];
    const { out } = await etl(...args);
    const [, profile] = out.split('Where the time went\n');
    expect(profile).toMatch(
      /^ {2}load +city +(?:(?:decoding|COPY|reading|ledger and commit) \d+ %[ ·]*)+ of /,
    );
    expect(profile).toMatch(/^ {2}build +city +rows .* · statistics /m);
    expect(profile).toMatch(/^ {2}build +total +rows /m);
    const events = (await etl(...args, '--json')).out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { result } = events.at(-1);
    expect(profile).toMatch(/^ {2}server +log +\d+(?:\.\d+)? [kM]?B written, by all sessions$/m);
    // Both tables are new, with all their pages.
    expect(result.serverWalBytes).toBeGreaterThan(1_000);
    const { load, build, server, advice } = result.profile;
    const shown = async (run: number) => JSON.parse((await etl('show', String(run), '--json')).out).advice;
    expect(advice[0]).toMatch(/ is the limit: /);
    expect(await shown(result.runId)).toEqual(advice);
    expect((await etl('show', String(result.runId))).out).toContain(`Where the time went\n  ${advice[0]}`);
    // Of a short run that was not profiled nothing is kept.
    const { out: quiet } = await etl(...args.slice(0, -1), '--json');
    expect(await shown(JSON.parse(quiet.trimEnd().split('\n').at(-1)!).result.runId)).toEqual([]);
    expect(load).toEqual([
      {
        table: 'city',
        read: expect.any(Number),
        decode: expect.any(Number),
        copy: expect.any(Number),
        ledger: expect.any(Number),
      },
    ]);
    expect(Math.min(...Object.values<number>({ ...load[0], table: 1 }))).toBeGreaterThan(0);
    expect(build.map(({ table, what }: { table: string; what: string }) => `${table} ${what}`)).toContain(
      'total rows',
    );
    expect(server).toContainEqual({
      step: 'build',
      doing: 'Timeout PgSleep',
      share: expect.any(Number),
    });
    for (const step of new Set(server.map((look: { step: string }) => look.step))) {
      const shares = server.filter((look: { step: string }) => look.step === step);
      expect(shares.reduce((sum: number, { share }: { share: number }) => sum + share, 0)).toBeCloseTo(1);
    }
  });

  it('--json has the time and the run in the line of an error, too', async () => {
    const { out } = await etl('run', pipelineFile, '--param', 'limit=0', '--full-refresh', '--json');
    expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toMatchObject({
      type: 'error',
      code: 'ETL_REJECT_LIMIT',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      run: expect.any(Number),
    });
  });
});
