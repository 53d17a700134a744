// Pipelines that fill one table, as processes that take turns in an order by chance, and some of which are killed on the way: each row of
// each of them is there once, or a refusal says why not, and the next run brings it.
//
//   FILL_SCENES=60 FILL_SEED=1 npx vitest run --config vitest.fault.config.ts test/fault/several-pipelines.test.ts

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killRest, startEtl, type Ended, type Etl } from '../helpers/fault-child.ts';
import { ask, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { startServer } from '../helpers/fault-server.ts';
import { holdRun, holds, type HeldRun } from '../helpers/held-runs.ts';
import { createChance, readCount, type Chance } from '../helpers/seeded.ts';

const scenes = readCount('FILL_SCENES', 5);
const seed = readCount('FILL_SEED', 3);

const directory = mkdtempSync(join(tmpdir(), 'sluice-several-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let server: Awaited<ReturnType<typeof startServer>>;
let database = '';
let url = '';
beforeAll(async () => {
  server = await startServer();
  database = await createDatabase(server.url);
  url = databaseUrlOf(server.url, database);
  mkdirSync(join(directory, 'pipelines'));
  writeFileSync(join(directory, 'total.sql'), 'select count(*)::int as sales from sale');
});
afterAll(async () => {
  killRest();
  server = await startServer();
  await dropDatabase(server.url, database);
});

interface Mode {
  readonly name: string;
  /** Options of the table, in TypeScript. */
  readonly options: string;
  /** Whether a file that two pipelines list is refused to one of them; undefined: they list none. */
  readonly twice?: 'refused' | 'merged';
  /** Whether people insert rows. */
  readonly isByHand: boolean;
}

const modes: readonly Mode[] = [
  { name: 'append', options: `publish: 'append'`, twice: 'refused', isByHand: true },
  { name: 'append_key', options: `primaryKey: ['id'], publish: 'append'`, twice: 'refused', isByHand: true },
  { name: 'merge', options: `primaryKey: ['id'], publish: 'merge'`, twice: 'merged', isByHand: true },
  {
    name: 'history',
    options: `primaryKey: ['id'], publish: { mode: 'history', at: 'day' }`,
    twice: 'merged',
    isByHand: false,
  },
  {
    name: 'touched',
    options: `primaryKey: ['id', 'day'], partitionBy: range('day', 'month'), publish: { mode: 'replace', only: 'touched' }`,
    isByHand: false,
  },
];

/** What some pipelines do to one table. */
interface Scene {
  readonly schema: string;
  readonly mode: Mode;
  readonly names: readonly string[];
  readonly chance: Chance;
  /** Numbers of the rows that have to be there, or will be. */
  readonly ids: number[];
  isByHand: boolean;
}

const declare = ({ schema, mode }: Scene, name: string): void =>
  writeFileSync(
    join(directory, 'pipelines', `${schema}_${name}.ts`),
    `import { column, csv, definePipeline, range, sqlFile } from 'sluice';
export default definePipeline({
  name: '${schema}_${name}',
  schema: '${schema}',
  tables: {
    sale: {
      source: csv('${schema}/{${name},both}*.csv'),
      columns: { id: column.integer('id'), day: column.date('day') },
      guard: false,
      ${mode.options},
    },
    total: { from: ['sale'], transform: sqlFile('../total.sql'), guard: false },
  },
});
`,
  );

/** Each pipeline has months of its own. */
const writeFile = ({ schema, names, chance, ids }: Scene, name: string, file: string): void => {
  const month = 1 + names.indexOf(name);
  const rows = Array.from({ length: chance.between(1, 3) }, () => {
    const id = ids.length + 1;
    ids.push(id);
    return `${id},2026-0${month}-0${chance.between(1, 9)}`;
  });
  writeFileSync(join(directory, schema, file), ['id,day', ...rows, ''].join('\n'));
};

const start = ({ schema }: Scene, name: string, through: string, ...args: readonly string[]): Etl =>
  startEtl({
    directory,
    url: through,
    args: ['run', `pipelines/${schema}_${name}.ts`, '--workers', '1', '--json', '--progress', 'log', ...args],
  });

interface Actor {
  readonly name: string;
  readonly held: HeldRun<Ended>;
  readonly kill: () => void;
  /** Turns that it has left; it is killed at its last one, or comes to its end. */
  turns: number;
  readonly isKilled: boolean;
}

const points = [holds.planned, holds.built, holds.judged, holds.written] as const;

/** `written` is for kills: who is held there keeps others waiting. */
const createActor = async (scene: Scene, name: string): Promise<Actor> => {
  const { chance } = scene;
  const isKilled = chance.between(1, 3) === 1;
  const args = chance.between(1, 4) === 1 ? ['--full-refresh'] : [];
  let child: Etl | undefined;
  const turns = isKilled ? chance.between(1, points.length) : points.length;
  const held = await holdRun(url, isKilled ? points.slice(0, turns) : points.slice(0, -1), (through) => {
    child = start(scene, name, through, ...args);
    return child.ended;
  });
  return { name, held, kill: () => child!.kill('SIGKILL'), turns, isKilled };
};

const happened: Record<string, number> = {};
const count = (what: string): void => void (happened[what] = (happened[what] ?? 0) + 1);

/** What a process may say, beside its success. */
const expectClear = ({ end, error, said }: Ended): void => {
  count(error?.code ?? `end ${end}`);
  expect(['none', 'ETL_FILE_TWICE', 'ETL_ROWS_LOST'], said).toContain(error?.code ?? 'none');
  expect([0, 1, 'SIGKILL'], said).toContain(end);
};

const takeTurn = async (actor: Actor): Promise<void> => {
  actor.turns -= 1;
  const ended = await actor.held.advance();
  if (ended !== undefined) actor.turns = 0;
  else if (actor.turns === 0 && actor.isKilled) actor.kill();
  if (actor.turns === 0) expectClear(ended ?? (await actor.held.finish('drop')));
};

const insertByHand = async ({ schema, ids }: Scene): Promise<void> => {
  const [there] = await ask<{ there: boolean }>(
    url,
    `select to_regclass('${schema}.sale') is not null as there`,
  );
  if (!there!.there) return;
  const id = ids.length + 1;
  ids.push(id);
  await ask(url, `insert into ${schema}.sale values (${id}, '2026-01-01')`);
  count('by hand');
};

/** A run that continues what was killed; if that was to replace rows which others have added to, it is given up, as the error says. */
const runNext = async (scene: Scene, name: string): Promise<Ended> => {
  const ended = await start(scene, name, url).ended;
  return ended.error?.code === 'ETL_ROWS_LOST' ? start(scene, name, url, '--fresh').ended : ended;
};

/** All pipelines at once, each with a new file. */
const playRound = async (scene: Scene, round: number): Promise<void> => {
  const { schema, mode, names, chance } = scene;
  for (const name of names) writeFile(scene, name, `${name}${round}.csv`);
  const hasTwice = mode.twice !== undefined && chance.between(1, 2) === 1;
  const both = `both${round}.csv`;
  if (hasTwice) writeFile(scene, names[0]!, both);
  const actors: Actor[] = [];
  for (const name of names) actors.push(await createActor(scene, name));
  let byHand = scene.isByHand && chance.between(1, 2) === 1 ? chance.between(1, 6) : 0;
  for (let left = actors; left.length > 0; left = actors.filter(({ turns }) => turns > 0)) {
    await takeTurn(chance.pick(left));
    byHand -= 1;
    if (byHand === 0) await insertByHand(scene);
  }
  await expectNoSessions(url);
  if (hasTwice) {
    // One of them brings it, unless it is there already; then it is put away.
    for (const name of names) expectClear(await runNext(scene, name));
    rmSync(join(directory, schema, both));
  }
  for (const name of names) {
    const { end, error, said } = await runNext(scene, name);
    expect({ end, code: error?.code }, said).toEqual({ end: 0, code: undefined });
  }
};

/** Each row once, and each file in the file state of one pipeline. */
const expectAll = async ({ schema, mode, ids, isByHand }: Scene): Promise<void> => {
  const rows = await ask<{ id: number }>(url, `select id from ${schema}.sale order by id`);
  const title = `FILL_SEED=${seed}, ${schema}`;
  expect(
    rows.map(({ id }) => id),
    title,
  ).toEqual(ids);
  const twice = await ask(
    url,
    `select name from etl.published_file where schema_name = $1 group by name having count(*) > 1`,
    [schema],
  );
  if (mode.twice !== 'merged') expect(twice, title).toEqual([]);
  if (!isByHand)
    expect(await ask(url, `select sales from ${schema}.total`), title).toEqual([{ sales: ids.length }]);
};

it(
  `in ${scenes} scenes, with seed ${seed}, no row is lost or doubled`,
  { timeout: scenes * 180_000 },
  async () => {
    for (let number = 0; number < scenes; number += 1) {
      const chance = createChance(1_000 * seed + number);
      const mode = modes[number % modes.length]!;
      const names = ['a', 'b', 'c'].slice(0, chance.between(2, 3));
      const schema = `${mode.name}_${number}`;
      const isByHand = mode.isByHand && chance.between(1, 3) > 1;
      const scene: Scene = { schema, mode, names, chance, ids: [], isByHand };
      mkdirSync(join(directory, schema));
      for (const name of names) declare(scene, name);
      for (let round = 1; round <= 2; round += 1) {
        await playRound(scene, round);
        await expectAll(scene);
      }
    }
    console.log(`FILL_SEED=${seed}: ${JSON.stringify(happened)}`);
    expect(happened['end SIGKILL']).toBeGreaterThan(0);
  },
);
