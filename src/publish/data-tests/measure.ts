// Runs the data tests of one table in as few scans as possible.

import { withPath, type Client } from '../../db/client.ts';
import { isRefusal } from '../../db/connect/server-error.ts';
import type { TestSpec } from '../../core/data-test.ts';
import {
  row,
  TestMisfit,
  type RowKind,
  type SetKind,
  type TableKind,
  type Tested,
  type TestedColumn,
  type TestKind,
} from './contract.ts';
import { btreeOperator } from '../table/table-state.ts';
import { testKinds } from './registry.ts';

export interface Measured {
  readonly spec: TestSpec;
  readonly failures: number;
  readonly tested: number | null;
  readonly problem: string | null;
  readonly rows: readonly Readonly<Record<string, string | null>>[];
  readonly seconds: number;
}

/** Thrown if the server refuses a test. `prefixLength`: our characters before the author's SQL. */
export class TestRefused extends Error {
  readonly spec: TestSpec;
  readonly prefixLength: number;

  constructor(spec: TestSpec, prefixLength: number, options: ErrorOptions) {
    super('the server refused a test', options);
    this.spec = spec;
    this.prefixLength = prefixLength;
  }
}

const rowsKept = 10;
const columnsKept = 100;
const charactersKept = 200;

const rowValues = `(select pg_catalog.json_object_agg(e.key, pg_catalog.left(e.value, ${charactersKept}) order by e.place)
    from pg_catalog.json_each_text(pg_catalog.to_json(${row})) with ordinality e (key, value, place) where e.place <= ${columnsKept})`;

const failingStart = 'with _etl_failing as materialized (\n';

/**
 * SQL: the values of failing rows, which `failing` selects. Materialized, because Citus has no
 * `json_each_text` in a query that its nodes share.
 */
const showing = (failing: string, list: readonly string[], limit: number): string =>
  `${failingStart}${failing}\n) select ${[...list, `${rowValues} as values`].join(', ')} from _etl_failing ${row} limit ${limit}`;

const operatorOf = (strategy: 1 | 3, sign: string): string => `coalesce(
    ${btreeOperator(strategy, 'c.opcdefault and c.opcintype = b.oid')},
    case when b.oid = 'varchar'::regtype or b.typtype in ('e', 'r', 'm', 'c') or b.typcategory = 'A'
      then 'operator(pg_catalog.${sign})' end)`;

/** Returns the columns of tables (quoted names), with operators that compare their values. */
export const testedColumns = async (
  client: Client,
  names: readonly string[],
): Promise<readonly (readonly TestedColumn[])[]> => {
  const { rows } = await client.query(
    `select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(b.oid, -1),
        'isText', b.typcategory = 'S', 'equals', ${operatorOf(3, '=')}, 'less', ${operatorOf(1, '<')}) order by a.attnum), '[]') as columns
      from unnest($1::text[]) with ordinality as w (name, place)
        join pg_attribute a on a.attrelid = w.name::regclass and a.attnum > 0 and not a.attisdropped
        join pg_type t on t.oid = a.atttypid
        join pg_type b on b.oid = case t.typtype when 'd' then t.typbasetype else t.oid end
      group by w.place order by w.place`,
    [names],
  );
  return rows.map(({ columns }) => columns);
};

/** Returns the columns of each key, except temporal keys (`without overlaps`). */
export const keysOf = async (client: Client, name: string): Promise<readonly (readonly string[])[]> => {
  const { rows } = await client.query(
    `select array(select a.attname::text from unnest(k.conkey) c (attnum) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.attnum) as names
      from pg_constraint k where k.conrelid = $1::regclass and k.contype in ('p', 'u') and not k.condeferrable
        and not coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false)`,
    [name],
  );
  return rows.map(({ names }) => names);
};

const asRefused = (spec: TestSpec, prefixLength: number, cause: unknown): unknown =>
  cause instanceof TestMisfit || isRefusal(cause) ? new TestRefused(spec, prefixLength, { cause }) : cause;

interface Shared {
  readonly spec: TestSpec;
  readonly value: string;
  /** SQL: true for failing rows; missing for a test of the whole table. */
  readonly fails?: string;
}

const sharedOf = (spec: TestSpec, columns: readonly TestedColumn[]): Shared => {
  const kind = testKinds[spec.kind] as RowKind | TableKind;
  try {
    if (kind.per === 'table') return { spec, value: kind.value(spec, columns) };
    const fails = kind.fails(spec, columns);
    return { spec, value: `count(*) filter (where ${fails})::text`, fails };
  } catch (cause) {
    throw asRefused(spec, 0, cause);
  }
};

const selectFrom = (list: readonly string[], from: string): string =>
  `select ${list.join(', ')} from ${from} ${row}`;

interface Scanned {
  /** Null if no test needs the number of rows: then an index may supply the newest value. */
  readonly counted: number | null;
  readonly values: readonly (string | null)[];
  readonly seconds: number;
}

const prepareShared = (client: Client, { spec, value }: Shared, from: string): Promise<unknown> =>
  client.query(`${selectFrom([value], from)} limit 0`).catch((cause: unknown) => {
    throw asRefused(spec, 0, cause);
  });

const scan = async (
  client: Client,
  from: string,
  tests: readonly Shared[],
  isCounted: boolean,
): Promise<Scanned> => {
  const start = performance.now();
  const values = tests.map(({ value }, at) => `${value} as v${at}`);
  if (values.length === 0 && !isCounted) return { counted: null, values: [], seconds: 0 };
  await client.query('savepoint tests');
  try {
    const { rows } = await client.query(
      selectFrom(isCounted ? ['count(*)::float8 as counted', ...values] : values, from),
    );
    const seconds = (performance.now() - start) / 1000;
    return { counted: rows[0].counted ?? null, values: tests.map((_, at) => rows[0][`v${at}`]), seconds };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    await client.query('rollback to savepoint tests');
    for (const one of tests) await prepareShared(client, one, from);
    // Each test was accepted on its own, so the query took too long or met an invalid value.
    throw asRefused(tests[0]!.spec, 0, cause);
  }
};

const valuesOf = async (client: Client, sql: string): Promise<Measured['rows']> =>
  (await client.query(sql)).rows.map((one) => one.values ?? {});

const measureShared = async (
  client: Client,
  { spec, fails }: Shared,
  value: string | null,
  { brought, before }: Tested,
  scanned: Scanned,
): Promise<Measured> => {
  const kind = testKinds[spec.kind] as RowKind | TableKind;
  const { counted: tested, seconds } = scanned;
  if (kind.per === 'table') {
    const problem = kind.problem(spec, value, before) ?? null;
    return { spec, failures: problem === null ? 0 : 1, tested, problem, rows: [], seconds };
  }
  const failures = Number(value);
  if (failures === 0) return { spec, failures, tested, problem: null, rows: [], seconds };
  const rows = await valuesOf(
    client,
    showing(`select * from ${brought} ${row} where ${fails!} limit ${rowsKept}`, [], rowsKept),
  );
  return { spec, failures, tested, problem: kind.problem(spec), rows, seconds };
};

type Failing = readonly { readonly failures: number; readonly values: Measured['rows'][number] | null }[];

const failingRows = async (
  client: Client,
  spec: TestSpec,
  tested: Tested,
  limit: number,
): Promise<Failing> => {
  const kind = testKinds[spec.kind] as SetKind;
  try {
    const failing = kind.failing(spec, tested);
    if (failing === undefined) return [];
    // The extended protocol accepts only one statement, so an author's test cannot add another.
    const text = showing(failing, ['count(*) over ()::float8 as failures'], limit);
    const query = { text, queryMode: 'extended' };
    const path = kind.isAuthors === true ? tested.path : [];
    return (await withPath(client, path, () => client.query<Failing[number]>(query))).rows;
  } catch (cause) {
    throw asRefused(spec, failingStart.length, cause);
  }
};

const measureSet = async (
  client: Client,
  spec: TestSpec,
  tested: Tested,
  counted: number | null,
): Promise<Measured> => {
  const kind = testKinds[spec.kind] as SetKind;
  const start = performance.now();
  const found = await failingRows(client, spec, tested, rowsKept);
  const failures = found[0]?.failures ?? 0;
  return {
    spec,
    failures,
    tested: counted,
    problem: failures === 0 ? null : kind.problem(spec),
    rows: found.map(({ values }) => values ?? {}),
    seconds: (performance.now() - start) / 1000,
  };
};

export const measureTests = async (
  client: Client,
  tests: readonly TestSpec[],
  tested: Tested,
): Promise<readonly Measured[]> => {
  const { rows, brought, columns } = tested;
  const isWhole = brought === rows;
  const kindOf = (spec: TestSpec): TestKind => testKinds[spec.kind]!;
  const isOfBrought = (spec: TestSpec): boolean => {
    const kind = kindOf(spec);
    if (isWhole) return true;
    return kind.per === 'set' ? kind.over(spec) === 'brought' : kind.per === 'row';
  };
  const measured = new Map<TestSpec, Measured>();
  for (const [from, some] of [
    [brought, tests.filter(isOfBrought)],
    [rows, tests.filter((spec) => !isOfBrought(spec))],
  ] as const) {
    const shared = some.filter((spec) => kindOf(spec).per !== 'set').map((spec) => sharedOf(spec, columns));
    const isCounted = some.some((spec) => kindOf(spec).per === 'row' || spec.max.kind === 'percent');
    const scanned = await scan(client, from, shared, isCounted);
    for (const [at, one] of shared.entries())
      measured.set(one.spec, await measureShared(client, one, scanned.values[at]!, tested, scanned));
    for (const spec of some)
      if (kindOf(spec).per === 'set')
        measured.set(spec, await measureSet(client, spec, tested, scanned.counted));
  }
  return tests.map((spec) => measured.get(spec)!);
};

/** Lets the server parse the tests without reading rows. Errors: TestRefused. */
export const prepareTests = async (
  client: Client,
  tests: readonly TestSpec[],
  tested: Tested,
): Promise<void> => {
  for (const spec of tests)
    if (testKinds[spec.kind]!.per === 'set') await failingRows(client, spec, tested, 0);
    else await prepareShared(client, sharedOf(spec, tested.columns), tested.rows);
};
