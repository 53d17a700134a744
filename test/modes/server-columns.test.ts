// Columns that the server fills: generated ones and identities, in every mode; their numbers go on and never come twice.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, type EtlError, index, list, rollbackPipeline, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';
import { serverMajor } from '../helpers/major-server.ts';

const {
  files,
  database,
  rowsOf,
  notices,
  run,
  settings,
  write,
  sales: shop,
} = useShop({
  header: 'id,pieces',
  total: 'select sum(twice)::int as twice from sale',
});

const own = { id: column.integer('id'), pieces: column.integer('pieces') };
const pipeline = (change: object = {}, total: object = {}): Pipeline =>
  shop(
    {
      columns: {
        ...own,
        twice: column.generated('integer', 'pieces * 2 -- twice'),
        row_id: column.identity(),
      },
      primaryKey: ['id'],
      unique: ['row_id'],
      indexes: [index('twice')],
      checks: { even: 'twice % 2 = 0' },
      columnComments: { twice: 'two times' },
      ...change,
    },
    total,
  );

const sales = () => rowsOf('select id, pieces, twice, row_id::int from shop.sale order by id');
const numbers = async (): Promise<unknown[]> => (await sales()).map(({ row_id: number }) => number);
/** What people see of the columns and the sequence. */
const shape = () =>
  rowsOf(`select attname, format_type(atttypid, atttypmod) as type, attidentity::text, attgenerated::text,
      pg_get_serial_sequence('shop.sale', attname) as sequence,
      (select row(seqstart, seqincrement, seqcache)::text from pg_sequence where seqrelid = pg_get_serial_sequence('shop.sale', attname)::regclass)
    from pg_attribute where attrelid = 'shop.sale'::regclass and attnum > 0 and not attisdropped order by attnum`);

beforeEach(() => void write('1.csv', '1:5', '2:6'));

describe('are filled in every mode, and numbers go on', () => {
  it.each([
    { how: 'swap', change: {}, prepare: 'select', after: [3, 4, 5] },
    { how: 'swap', change: { staging: 'none' }, prepare: 'select', after: [3, 4, 5] },
    {
      how: 'in place',
      change: {},
      prepare: 'create view shop.v as select * from shop.sale',
      after: [3, 4, 5],
    },
    { how: 'append', change: { publish: 'append' }, prepare: 'select', after: [1, 2, 3] },
    { how: 'merge', change: { publish: 'merge' }, prepare: 'select', after: [1, 2, 3] },
    { how: 'history', change: { publish: 'history' }, prepare: 'select', after: [1, 2, 3] },
  ])('$how $change', async ({ how, change, prepare, after }) => {
    await run(pipeline(change));
    expect(await numbers()).toEqual([1, 2]);
    await database.query(prepare);
    const before = await shape();
    expect(before.map(({ attname }) => attname)).toEqual(expect.arrayContaining(['id', 'twice', 'row_id']));
    write('2.csv', '3,7');
    expect(await run(pipeline(change))).toMatchObject({ tables: [{ strategy: how, rows: 3 }, {}] });
    expect(await shape()).toEqual(before);
    expect(await numbers()).toEqual(after);
    expect(await rowsOf('select sum(twice)::int as twice from shop.sale')).toEqual([{ twice: 36 }]);
    expect(await rowsOf('select twice from shop.total')).toEqual([{ twice: 36 }]);
    // As if somebody had inserted a row by hand meanwhile.
    await database.query("select setval('shop.sale_row_id_seq', 100)");
    write('3.csv', '4,8');
    await run(pipeline(change));
    expect((await numbers()).at(-1)).toBeGreaterThan(100);
    expect(new Set(await numbers()).size).toBe(4);
    expect(notices.join()).not.toContain('alter');
    expect(await run(pipeline(change))).toMatchObject({ outcome: 'unchanged' });
  });

  it('a merged row that stays keeps its number, and is computed again', async () => {
    await run(pipeline({ publish: 'merge' }));
    write('2.csv', '2,60', '3,7');
    await run(pipeline({ publish: 'merge' }));
    expect(await sales()).toEqual([
      { id: 1, pieces: 5, twice: 10, row_id: 1 },
      { id: 2, pieces: 60, twice: 120, row_id: 2 },
      { id: 3, pieces: 7, twice: 14, row_id: 3 },
    ]);
  });

  it.each(['append', 'merge'])('a record that violates a check of them is named (%s)', async (publish) => {
    const change = { publish, checks: { few: 'twice < 100' } };
    await run(pipeline(change));
    write('2.csv', '3,7', '4,60');
    expect((await failureOf(run(pipeline(change)))).message).toContain(
      'check few (twice < 100) is violated by 1 row: in/2.csv:3 (4,60)',
    );
  });

  it('generated ones of a divided table, in every partition', async () => {
    const change = {
      columns: { ...own, twice: column.generated('integer', 'pieces * 2') },
      partitionBy: list('id'),
      unique: [],
    };
    for (const [night, publish] of ['replace', 'replace', 'append'].entries()) {
      write(`${night + 2}.csv`, `${night + 3},7`);
      await run(pipeline({ ...change, publish }), { fullRefresh: true });
      if (night === 0) await database.query('create index by_hand on shop.sale ((twice + 1))');
    }
    write('9.csv', '9,7');
    expect(await run(pipeline({ ...change, publish: 'append' }))).toMatchObject({
      tables: [{ strategy: 'append', rows: 6 }, {}],
    });
    expect(await rowsOf('select sum(twice)::int as n from shop.sale')).toEqual([{ n: 78 }]);
    expect(
      await rowsOf(`select count(*)::int as n from pg_attribute where attgenerated = 's' and attrelid in
        (select inhrelid from pg_inherits where inhparent = 'shop.sale'::regclass)`),
    ).toEqual([{ n: 6 }]);
  });

  it('a version that returns gives no number twice', async () => {
    const kept = pipeline({ keep: 2 }, { keep: 2 });
    await run(kept);
    write('2.csv', '3,7');
    await run(kept);
    expect(await numbers()).toEqual([3, 4, 5]);
    await rollbackPipeline(kept, settings());
    expect(await numbers()).toEqual([1, 2]);
    await database.query('insert into shop.sale (id, pieces) values (9, 9)');
    expect((await numbers()).at(-1)).toBe(6);
    await rollbackPipeline(kept, { ...settings(), to: 2 });
    expect(await numbers()).toEqual([3, 4, 5]);
    expect((await shape()).at(-1)).toMatchObject({ sequence: 'shop.sale_row_id_seq' });
  });
});

/** What an error says to execute. */
const statementOf = ({ hint }: EtlError): string => /execute: (alter [^;]*);/.exec(hint)![1]!;

describe('a definition that changed', () => {
  const appended = { publish: 'append', unique: [], indexes: [], checks: {}, columnComments: {} };

  it('adds them to a table that stays, for the rows that are there, too', async () => {
    files.write('total.sql', 'select 1 as twice');
    await run(pipeline({ ...appended, columns: own }));
    const error = await failureOf(run(pipeline(appended)));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(`${error.message} ${error.hint}`).toContain('"row_id" bigint generated always as identity');
    await run(pipeline({ ...appended, evolve: 'add' }));
    expect(await sales()).toEqual([
      { id: 1, pieces: 5, twice: 10, row_id: 1 },
      { id: 2, pieces: 6, twice: 12, row_id: 2 },
    ]);
    const other = {
      ...appended,
      columns: {
        ...own,
        twice: column.generated('integer', 'pieces * 3'),
        row_id: column.identity('by default'),
      },
    };
    expect((await failureOf(run(pipeline(other)))).message).toMatch(
      /twice is declared as generated as \(pieces \* 3\), and it is generated as \(pieces \* 2\) in the table/,
    );
    const retyped = pipeline({ ...other, evolve: 'retype' });
    if (serverMajor < 17) await database.query(statementOf(await failureOf(run(retyped))));
    await run(retyped);
    expect(await sales()).toMatchObject([{ twice: 15 }, { twice: 18 }]);
    expect((await shape()).find(({ attname }) => attname === 'row_id')).toMatchObject({ attidentity: 'd' });
    expect(notices.join()).toContain('set generated by default');
    files.write('total.sql', 'select sum(twice)::int as twice from sale');
  });

  it.runIf(serverMajor < 17)(
    'says which servers change an expression, before anything is loaded',
    async () => {
      await run(pipeline(appended));
      write('2.csv', '3,7');
      const columns = { ...own, twice: column.generated('integer', 'pieces * 3') };
      const error = await failureOf(run(pipeline({ ...appended, columns, evolve: 'retype' })));
      expect(error).toMatchObject({
        code: 'ETL_PUBLISH_SHAPE',
        message: expect.stringContaining('in the table, which PostgreSQL can change from version 17 on'),
      });
      expect(statementOf(error)).toMatch(
        /^alter table "?shop"?."?sale"? drop column "?twice"?, add column "?twice"? /,
      );
      expect(await sales()).toHaveLength(2);
      expect(
        await rowsOf(
          'select count(*)::int as n from etl.chunk join etl.source_file f on f.id = file_id where f.run_id > 1',
        ),
      ).toEqual([{ n: 0 }]);
    },
  );

  it('does not take a plain column for one that is computed', async () => {
    const plain = { ...appended, columns: { ...own, twice: column.integer('pieces') } };
    await run(pipeline(plain));
    const computed = { ...appended, columns: { ...own, twice: column.generated('integer', 'pieces * 2') } };
    expect((await failureOf(run(pipeline(computed)))).message).toContain('it is a plain column in the table');
  });
});

describe('what the server does not take is refused before anything is loaded', () => {
  it.each([
    { expression: 'piece * 2', problem: 'column "piece" does not exist' },
    { expression: 'random()::int', problem: 'generation expression is not immutable' },
    { expression: 'pieces); drop table x; --', problem: 'syntax error' },
  ])('$expression', async ({ expression, problem }) => {
    const error = await failureOf(
      run(
        pipeline({
          columns: { ...own, twice: column.generated('integer', expression) },
          unique: [],
          checks: {},
        }),
      ),
    );
    expect(error).toMatchObject({ code: 'ETL_ATTRIBUTE_REFUSED' });
    expect(error.message).toContain(problem);
    expect(await rowsOf('select count(*)::int as n from etl.chunk')).toEqual([{ n: 0 }]);
  });

  it.each(['replace', 'append'])(
    'an expression that fails for a row publishes nothing (%s)',
    async (publish) => {
      write('2.csv', '3,0');
      const error = await failureOf(
        run(
          pipeline({
            publish,
            columns: { ...own, twice: column.generated('integer', '10 / pieces * 2') },
            unique: [],
          }),
        ),
      );
      expect(error).toMatchObject({ code: 'ETL_PUBLISH_REFUSED' });
      expect(error.message).toMatch(/division by zero/);
    },
  );
});
