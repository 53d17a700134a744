// Which field of a file goes into which column, and what is said if something is left over.

import { describe, expect, it } from 'vitest';
import { pairFields, type PairRules } from '../../../../src/tools/load/pair-fields.ts';
import type { TargetColumn } from '../../../../src/tools/load/target.ts';

const column = (name: string, more: Partial<TargetColumn> = {}): TargetColumn => ({
  name,
  type: 'text',
  labels: [],
  isNullable: false,
  hasDefault: false,
  isGenerated: false,
  ...more,
});

const pairs = (
  header: readonly string[],
  columns: readonly TargetColumn[],
  rules: Partial<PairRules> = {},
  hasHeader = true,
): readonly string[] => {
  const fields = { table: 'app.users', file: 'users.csv', header, hasHeader, columns };
  const all = { map: new Map<string, string>(), skip: [], only: undefined, ...rules };
  return pairFields(fields, all).map(({ index, column: { name } }) => `${index}→${name}`);
};

const failure = (...args: Parameters<typeof pairs>): unknown => {
  try {
    return pairs(...args);
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string };
    return `${code} ${message}\n${hint}`;
  }
};

describe('fields with a header', () => {
  it('go to the column of the same name first', () =>
    expect(pairs(['ID', 'id'], [column('id'), column('ID')])).toEqual(['0→ID', '1→id']));

  it('go to a column whose name differs in case, accents, blanks and underscores alone', () =>
    expect(
      pairs(
        ['Full Name', 'E-MAIL', 'Straße', 'created_at'],
        ['fullName', 'email', 'strasse', 'createdAt'].map((name) => column(name)),
      ),
    ).toEqual(['0→fullName', '1→email', '2→strasse', '3→createdAt']));

  it('need no match for columns that may be empty, have a default or are generated', () =>
    expect(
      pairs(
        ['id'],
        [
          column('id'),
          column('a', { isNullable: true }),
          column('b', { hasDefault: true }),
          column('c', { isGenerated: true }),
        ],
      ),
    ).toEqual(['0→id']));

  it('go where --map says, and nowhere with --skip', () =>
    expect(
      pairs(['Nr', 'Name', 'Note'], [column('id'), column('name')], {
        map: new Map([['Nr', 'id']]),
        skip: ['Note'],
      }),
    ).toEqual(['0→id', '1→name']));

  it('are ignored if --only does not name their columns', () =>
    expect(pairs(['id', 'name', 'x'], [column('id'), column('name')], { only: ['name'] })).toEqual([
      '1→name',
    ]));

  it('that are left over are named, with the flags that decide', () =>
    expect(failure(['id', 'Full Name', ''], [column('id'), column('name')])).toBe(
      `ETL_LOAD_FIELDS the fields of users.csv and the columns of app.users do not match:
  field "Full Name" has no column: --map 'Full Name=COLUMN' names one, --skip 'Full Name' leaves it out
  field 3 has no name, and no column
  column "name" has no field, and needs a value: --map FIELD=name names one
Nothing was loaded. The columns of the table: id, name.`,
    ));

  it('are not matched if two names are alike: neither is chosen silently', () =>
    expect(failure(['Full Name', 'FullName'], [column('fullname')])).toContain(
      'field "Full Name" has no column',
    ));

  it('do not go into a generated column', () =>
    expect(failure(['id', 'sum'], [column('id'), column('sum', { isGenerated: true })])).toContain(
      'field "sum" has no column',
    ));

  it.each([
    [{ map: new Map([['x', 'id']]) }, '--map: users.csv has no field "x"'],
    [{ map: new Map([['id', 'x']]) }, '--map: app.users has no column "x"'],
    [
      {
        map: new Map([
          ['id', 'id'],
          ['b', 'id'],
        ]),
      },
      '--map: column "id" cannot get field "b"',
    ],
    [{ skip: ['x'] }, '--skip: users.csv has no field "x"'],
    [{ only: ['x'] }, '--only: app.users has no column "x"'],
    [{ only: ['id', 'late'] }, 'column "late" has no field'],
  ])('%o is refused', (rules, problem) =>
    expect(
      failure(['id', 'b'], [column('id'), column('b'), column('late', { isNullable: true })], rules),
    ).toContain(problem),
  );
});

describe('fields without a header', () => {
  it('go to the columns in their order, without generated ones', () =>
    expect(
      pairs(['', ''], [column('a'), column('g', { isGenerated: true }), column('b')], {}, false),
    ).toEqual(['0→a', '1→b']));

  it('go to the columns of --only in its order', () =>
    expect(pairs(['', ''], [column('a'), column('b'), column('c')], { only: ['c', 'a'] }, false)).toEqual([
      '0→c',
      '1→a',
    ]));

  it('must be as many as the columns', () =>
    expect(failure(['', ''], [column('a')], {}, false)).toContain(
      'the file has 2 fields and no header, for 1 column',
    ));
});
