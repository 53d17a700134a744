// Records that the server refuses, wherever they are among others: rows and rejects are those of a server that is given one record
// after the other. Before PostgreSQL 16, which has no function that judges a text, all of them are found by COPY.

import { beforeAll, describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { copyIn } from '../../src/load/chunk/copy-in.ts';
import { column } from '../../src/pipeline/declare/column.ts';
import { oneOf } from '../../src/pipeline/declare/filter.ts';
import { onOneLine } from '../../src/core/wording.ts';
import { createChance, searched, type Chance } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';
import { loadAll, rejectsOf, stagingRows, withChunkFile } from './chunk-loading.ts';

const database = useDatabase();

beforeAll(async () => {
  await database.query(`
    create type state as enum ('open', 'paid');
    create domain even as integer check (value % 2 = 0);
    create domain named as text not null;
    create type pair as (left_side even, right_side text);
    create function is_short(text) returns boolean language plpgsql immutable as $$
      begin
        if length($1) > 3 then raise 'too long: %', $1; end if;
        return true;
      end $$;
    create domain short as text check (public.is_short(value))`);
});

/** Looks like a place of COPY's, where the server quotes it. */
const forged = 'x\nCOPY t, line 1, column code: 7';

/** Texts of a column that the server takes, and that it refuses; null is an empty field. */
const texts = {
  state: {
    type: 'public.state',
    good: ['open', 'paid'],
    bad: ['opened', 'a\tb', 'back\\slash', 'é', forged],
  },
  code: { type: 'public.even', good: ['2', ' 4 ', null], bad: ['3', 'x', '99999999999'] },
  codes: { type: 'public.even[]', good: ['{}', '{2,4}'], bad: ['{2,3}', '{', '{{2},{2,4}}'] },
  sides: { type: 'public.pair', good: ['(2,"a,b")', '(,)'], bad: ['(3,a)', '(2)', '(x,a'] },
  name: { type: 'public.named', good: ['a', 'b'], bad: [null] },
  short: { type: 'public.short', good: ['abc', null], bad: ['abcd', 'abcde'] },
} as const;
type Served = keyof typeof texts;

/** Columns of a table: those of all types, or of types that refuse a text without ending the statement. */
const tables: Readonly<Record<string, readonly Served[]>> = {
  'every type': Object.keys(texts) as Served[],
  'types that answer': ['state', 'code', 'codes', 'sides'],
};

interface Drawn {
  readonly kind: 'good' | 'refused' | 'rejected' | 'filtered';
  readonly values: readonly (string | null)[];
}

/** Which of so many records are refused. */
const patterns: Readonly<Record<string, (index: number, records: number, chance: Chance) => boolean>> = {
  'the first': (index) => index === 0,
  'the last': (index, records) => index === records - 1,
  'every record': () => true,
  neighbours: (index) => index % 40 < 3,
  some: (_, __, chance) => chance.between(1, 100) <= 3,
  many: (_, __, chance) => chance.between(1, 100) <= 30,
};

/** No record has two texts that are refused: which of them the server names is its choice. */
const draw = (id: number, served: readonly Served[], isRefused: boolean, chance: Chance): Drawn => {
  const kind = isRefused
    ? 'refused'
    : chance.pick(['good', 'good', 'good', 'good', 'rejected', 'filtered'] as const);
  const bad = isRefused ? chance.pick(served) : undefined;
  const values = served.map((name) => chance.pick<string | null>(texts[name][name === bad ? 'bad' : 'good']));
  return { kind, values: [kind === 'rejected' ? `x${id}` : String(id), ...values] };
};

const csvLine = ({ kind, values }: Drawn, padding: string): string =>
  `${[...values.map((value) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`)), kind === 'filtered' ? 'no' : 'yes', padding].join(',')}\n`;

type Verdict = { readonly reason: string; readonly column: string | undefined };

/** What the server says of a row that it is given alone. */
const judgeAlone = async (
  client: Parameters<typeof copyIn>[0],
  target: string,
  values: Drawn['values'],
): Promise<Verdict | undefined> => {
  async function* row(): AsyncGenerator<Buffer, void> {
    yield Buffer.from(encodeTextRow(values));
  }
  await client.query('begin');
  try {
    await copyIn(client, `copy ${target} from stdin`, row());
    return undefined;
  } catch (error) {
    const { code, message, where } = error as { code: string; message: string; where: string };
    const named = /^COPY .*, line 1, column (\w+):/m.exec(where)?.[1];
    return { reason: `${code} ${onOneLine(message)}`, column: named };
  } finally {
    await client.query('rollback');
  }
};

/** The rejects that the records should become. */
const expectedRejects = async (
  { client, staging }: Parameters<Parameters<typeof withChunkFile>[2]>[0],
  drawn: readonly Drawn[],
  lines: readonly string[],
): Promise<readonly object[]> => {
  const known = new Map<string, Verdict | undefined>();
  const rejects: object[] = [];
  let line = 2;
  for (const [index, { kind, values }] of drawn.entries()) {
    const place = { record: index + 1, line, raw: lines[index]!.trimEnd() };
    const key = JSON.stringify(values.slice(1));
    if (kind === 'rejected') rejects.push({ ...place, code: 'type', column: 'id' });
    if (kind === 'refused') {
      if (!known.has(key)) known.set(key, await judgeAlone(client, staging, values));
      rejects.push({ ...place, code: 'server', ...known.get(key) });
    }
    line += lines[index]!.split('\n').length - 1;
  }
  return rejects;
};

describe('records that the server refuses', () => {
  const cases = Object.entries(patterns).flatMap(([name, isRefused]) =>
    Array.from({ length: searched(1) }, (_, round) =>
      [
        { table: 'every type', records: 150, chunkBytes: 700, rejectsMax: 10_000 },
        { table: 'types that answer', records: 150, chunkBytes: 1_000_000, rejectsMax: 7 },
        // Blocks of 64 KiB.
        ...Object.keys(tables).map((table) => ({
          table,
          records: name === 'every record' ? 900 : 1_200,
          chunkBytes: 120_000,
          rejectsMax: 500,
        })),
      ].map((one) => ({ ...one, name, isRefused, round })),
    ).flat(),
  );
  it.each(cases)(
    '$table: $name of $records, in chunks of $chunkBytes bytes and $rejectsMax rejects',
    async ({ table, isRefused, records, chunkBytes, rejectsMax, round }) => {
      const served = tables[table]!;
      const columns = {
        id: column.integer('id'),
        ...Object.fromEntries(served.map((name) => [name, column.of(texts[name].type, name).nullable()])),
      };
      const chance = createChance(round * 1000 + records + chunkBytes + rejectsMax);
      const drawn = Array.from({ length: records }, (_, index) =>
        draw(index + 1, served, isRefused(index, records, chance), chance),
      );
      const padding = 'x'.repeat(records > 200 ? 60 : 0);
      const lines = drawn.map((each) => csvLine(each, padding));
      const content = `id,${served.join(',')},wanted,padding\n${lines.join('')}${'\n'.repeat(records > 200 ? 200_000 : 3)}`;
      const file = { content, columns, filter: oneOf('wanted', ['yes']), rejectsMax };
      await withChunkFile(
        database.url,
        { ...file, chunkBytes: Math.min(chunkBytes, 64 * 1024) },
        async (prepared) => {
          const { load } = prepared;
          await loadAll({ ...prepared, load: { ...load, source: { ...load.source, chunkBytes } } });
          const rejects = await rejectsOf(prepared);
          const expected = await expectedRejects(prepared, drawn, lines);
          expect(rejects).toHaveLength(expected.length);
          expect(rejects).toMatchObject(expected);
          const ids = (await stagingRows(prepared)).map(([id]) => Number(id));
          const good = drawn.flatMap(({ kind }, index) => (kind === 'good' ? [index + 1] : []));
          expect(ids.toSorted((a, b) => a - b)).toEqual(good);
          const filtered = drawn.filter(({ kind }) => kind === 'filtered').length;
          const rejected = rejects.length;
          expect(prepared.reported()).toMatchObject({ records, copied: good.length, rejected, filtered });
        },
      );
    },
  );
});
