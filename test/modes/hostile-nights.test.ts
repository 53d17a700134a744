// Roles that may create objects in production's schema plant operators and functions there: no way of publishing executes them.

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  hash,
  index,
  list,
  rollbackPipeline,
  runPipeline,
  testPipeline,
  verifyPipeline,
} from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { useFiles } from '../helpers/files.ts';
import { executed, plant, plantIn } from '../helpers/hostile-server.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';

const files = useFiles();
let own: OwnServer;

/** As a superuser whose name no schema of ours has. */
const url = (): string => {
  const asAdmin = new URL(own.server.url);
  [asAdmin.username, asAdmin.password] = ['admin', 'admin'];
  return asAdmin.href;
};

const place = () => ({
  databaseUrl: url(),
  workingDirectory: files.directory,
  directory: files.directory,
  redis: false as const,
});

const columns = {
  code: column.varchar('code', { length: 9 }),
  kind: column.varchar('kind', { length: 9 }),
  n: column.integer('n').nullable(),
};

const market = (name: string, table: object) =>
  definePipeline({
    name,
    schema: name,
    tables: {
      item: {
        source: csv(`${name}/*.csv`),
        columns,
        primaryKey: ['code', 'kind'] as ['code', 'kind'],
        guard: false as const,
        ...table,
      },
    },
  });

/** A file with these lines; without any it is gone. */
const write = (name: string, [file, ...lines]: readonly string[]): void => {
  if (lines.length === 0) rmSync(`${files.directory}/${name}/${file}.csv`);
  else files.write(`${name}/${file}.csv`, `code,kind,n\n${lines.join('\n')}\n`);
};

beforeAll(async () => {
  own = await startOwnServer({});
  await ask(own.server.url, `create role admin superuser login password 'admin'`);
  // The schemas of the bookkeeping are there, and ours.
  write('first', ['a', 'a,x,1']);
  await runPipeline(market('first', {}), { ...place(), workers: 1 });
  // The run was too small for a queue.
  await postgresBackend(addressFromUrl(url())).prepare();
  await plant(url());
});
afterAll(() => own.remove());

const trigger = `create function stay() returns trigger language plpgsql as 'begin return new; end';
  create trigger stay before insert on item for each row execute function stay()`;

/** What is published, what somebody adds after the first night, and the files of the nights that follow; without lines: it is gone. */
const modes: readonly {
  readonly name: string;
  /** Of the last night. */
  readonly strategy: string;
  readonly table: object;
  readonly ddl?: string;
  readonly nights: readonly (readonly string[])[];
}[] = [
  {
    name: 'touched partitions, by value',
    strategy: 'partitions',
    table: { partitionBy: list('kind'), publish: { mode: 'replace', only: 'touched' } },
    nights: [
      ['b', 'c,x,3', 'd,z,4'],
      ['b', 'c,y,3'],
    ],
  },
  {
    name: 'touched partitions whose rows stay where they are',
    strategy: 'in place',
    table: { partitionBy: list('kind'), publish: { mode: 'replace', only: 'touched' } },
    ddl: trigger,
    nights: [
      ['b', 'c,x,3', 'd,z,4'],
      ['b', 'c,y,3'],
    ],
  },
  {
    name: 'all partitions, with a view and a policy',
    strategy: 'partitions',
    table: { partitionBy: hash('code', 2), tests: [expected.accepted('kind', ['x', 'y', 'z'])] },
    ddl: `create view seen as select code from item where kind <> 'q'; create policy p on item using (kind > 'a')`,
    nights: [['a', 'a,y,7', 'e,z,5']],
  },
  {
    name: 'append, with files that change and leave',
    strategy: 'append',
    table: {
      publish: { mode: 'append', changed: 'reload', gone: 'unload' },
      tests: [expected.matches('kind', /^[xyz]$/), expected.unique(['code', 'kind'])],
    },
    ddl: 'create table child (code varchar(9), kind varchar(9), foreign key (code, kind) references item on delete cascade)',
    nights: [['b', 'c,x,3'], ['b', 'c,x,4', 'd,z,4'], ['b']],
  },
  {
    name: 'merge',
    strategy: 'merge',
    table: { publish: { mode: 'merge', newer: 'n', changed: 'reload', by: 'upsert' }, unique: ['n'] },
    ddl: trigger,
    nights: [['b', 'a,x,3', 'd,z,4']],
  },
  {
    name: 'merge by building the table again',
    strategy: 'rebuild',
    table: {
      publish: { mode: 'merge', newer: 'kind', by: 'rebuild', changed: 'reload' },
      primaryKey: ['code'],
    },
    ddl: `create index by_hand on item ((kind || 'q')) where kind in ('x', 'y') and array[kind::text] <> array['q']`,
    nights: [['b', 'a,z,3', 'd,z,4']],
  },
  {
    name: 'history',
    strategy: 'history',
    table: { publish: { mode: 'history', changed: 'reload' }, primaryKey: ['code'] },
    nights: [['b', 'a,z,3', 'd,z,4']],
  },
  {
    name: 'replace, with earlier versions',
    strategy: 'swap',
    table: {
      keep: 1,
      indexes: [index('n')],
      tests: [expected.between('n', 0, 99), expected.rows({ min: 1 })],
    },
    ddl: `create index by_hand on item ((kind || 'q')) where kind in ('x', 'y') and array[kind::text] <> array['q']`,
    nights: [['b', 'c,x,3']],
  },
];

it('what is planted would be executed', async () => {
  await plantIn(url(), 'first');
  await ask(url(), `set search_path = pg_catalog, first; select from item where kind = 'x'`);
  expect(await executed(url())).not.toEqual([]);
  await ask(url(), 'truncate trap.executed; alter sequence trap.calls restart');
});

it.each(modes)(
  'nothing of it is, night after night: $name',
  async ({ table, ddl = '', nights, strategy }) => {
    const name = `market_${modes.findIndex((mode) => mode.table === table)}`;
    const pipeline = market(name, table);
    const night = async (lines: readonly string[]) => {
      write(name, lines);
      const result = await runPipeline(pipeline, { ...place(), workers: 1 });
      expect(result.outcome).toBe('published');
      return result.tables[0]!.strategy;
    };
    await night(['a', 'a,x,1', 'b,y,2']);
    await ask(url(), `set search_path = ${name}; ${ddl}`);
    await plantIn(url(), name);
    const strategies = [];
    for (const lines of nights) strategies.push(await night(lines));
    expect(strategies.at(-1)).toBe(strategy);
    await verifyPipeline(pipeline, place());
    await testPipeline(pipeline, place());
    if ('keep' in table) await rollbackPipeline(pipeline, place());
    expect(await executed(url())).toEqual([]);
    // Also by a statement that was rolled back.
    expect(await ask(url(), 'select is_called from trap.calls')).toEqual([{ is_called: false }]);
  },
);
