// Documentation that stays true: links lead somewhere, named tests exist, pages have every key, type, event and table.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ColumnType, ValueShape } from '../../../src/format/column-types/contract.ts';
import { columnTypes } from '../../../src/format/column-types/registry.ts';
import { filesBelow, readProjectFile, root } from './source-files.ts';

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((path) => ({
    path,
    text: readProjectFile(path),
  })),
  ...filesBelow('docs', '.md'),
];

/** What GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

const brokenLinks = ({ path, text }: { path: string; text: string }): readonly string[] =>
  [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, target = '', anchor]) => {
    const file = target === '' ? path : join(dirname(path), target);
    if (!existsSync(join(root, file))) return [`${target} does not exist`];
    const isMissing = anchor !== undefined && !anchorsOf(readProjectFile(file)).includes(anchor);
    return isMissing ? [`${file} has no heading #${anchor}`] : [];
  });

it.each(pages)('links of $path lead somewhere', (page) => expect(brokenLinks(page)).toEqual([]));

describe('tests that are named as proof', () => {
  const sources = filesBelow('src', '.ts', '.mjs', '.sql');
  const named = [...pages, ...sources].flatMap(({ path, text }) =>
    [...text.matchAll(/\btest\/[\w./-]+\.test\.ts/g)].map(([test]) => ({ path, test })),
  );

  it.each(named)('$path: $test is there', ({ test }) => expect(existsSync(join(root, test))).toBe(true));

  const titled = sources.flatMap(({ path, text }) => {
    // A sentence may go over lines of a comment.
    const flat = text.replace(/\n\s*(?:\/\/|\*)\s*/g, ' ');
    return [...flat.matchAll(/(test\/[\w./-]+\.test\.ts), "([^"]+)"/g)].map(([, test, title]) => ({
      path,
      test: test!,
      title: title!,
    }));
  });

  it.each(titled.filter(({ test }) => existsSync(join(root, test))))(
    '$path: "$title" is a test',
    ({ test, title }) => expect(readProjectFile(test)).toContain(title),
  );
});

/** Keys of an interface or type of src/, by its text; a colon at the first level of indentation. */
const keysOf = (path: string, name: string): readonly string[] => {
  const [, body = ''] = readProjectFile(path).split(new RegExp(`(?:interface|type) ${name}\\b[^{]*\\{\\n`));
  return [...body.split('\n}')[0]!.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, key]) => key!);
};

describe('reference pages', () => {
  const columns = readProjectFile('docs/reference/columns.md');
  const pipeline = readProjectFile('docs/reference/pipeline.md');
  const dialect = readProjectFile('docs/reference/dialect.md');
  const events = readProjectFile('docs/reference/events.md');
  const library = readProjectFile('docs/reference/library.md');

  /** What a section says of values. */
  const inJavaScript: Readonly<Record<ValueShape['kind'], string>> = {
    string: '`string`',
    number: '`number`',
    bigint: 'bigint',
    float: '`number`',
    boolean: '`boolean`',
    uuid: '`string`',
    any: '`JSON.parse`',
  };
  const types = Object.entries<ColumnType>(columnTypes).map(([name, type]) => ({ name, type }));
  it.each(types)('columns.md describes $name, its values and its options', ({ name, type }) => {
    const section = columns.split(/^### /m).find((text) => text.split('\n')[0]!.includes(`\`${name}\``));
    expect(section).toContain(`JavaScript`);
    expect(section).toContain(inJavaScript[type.value({}).kind]);
    for (const key of Object.keys(type.options)) expect(section).toContain(`\`${key}\``);
  });

  it.each(keysOf('src/declaration.ts', 'Dialect'))('dialect.md describes %s', (key) => {
    expect(dialect).toMatch(new RegExp(`^\\| \`${key}\``, 'm'));
  });

  const tableKeys = ['CommonKeys', 'SourceKeys', 'TypedTable', 'TextTable', 'DerivedTable'].flatMap((name) =>
    keysOf('src/pipeline/declare/table.ts', name),
  );
  const pipelineKeys = [
    'name',
    'schema',
    'params',
    'tables',
    ...keysOf('src/pipeline/declare/index-definition.ts', 'IndexOptions'),
  ];
  it.each([...new Set([...pipelineKeys, ...tableKeys])])('pipeline.md describes %s', (key) => {
    expect(pipeline).toMatch(new RegExp(`^\\| \`${key}\``, 'm'));
  });

  it.each(keysOf('src/run/options.ts', 'RunOptions'))('library.md describes the option %s', (key) => {
    expect(library).toMatch(new RegExp(`^\\| \`${key}\``, 'm'));
  });

  const model = readProjectFile('src/model.ts');
  const eventTypes = [...model.split('type RunEvent')[1]!.matchAll(/type: '(\w+)'/g)].map(
    ([, type]) => type!,
  );
  it.each(eventTypes)('events.md describes the event %s', (type) => {
    expect(events).toMatch(new RegExp(`^\\| \`${type}\``, 'm'));
  });

  it.each([
    ...keysOf('src/model.ts', 'RunResult'),
    ...keysOf('src/model.ts', 'TableResult'),
    ...keysOf('src/model.ts', 'Counts'),
  ])('events.md describes %s of a result', (key) => expect(events).toContain(`\`${key}\``));
});

describe('tests.md', () => {
  it('says of every test helper what it is for, and of no other file', () => {
    const listed = [...readProjectFile('docs/tests.md').matchAll(/^\| `([\w.-]+)` \| \S/gm)].map(
      ([, name]) => name!,
    );
    const helpers = filesBelow('test/helpers', '').map(({ path }) => path.replace('test/helpers/', ''));
    expect(listed.toSorted()).toEqual(helpers.toSorted());
  });
});

describe('schema.md', () => {
  const schema = readProjectFile('docs/reference/schema.md');
  const sql = filesBelow('src/db/bookkeeping/migrations', '.sql')
    .map(({ text }) => text)
    .join('\n');
  const constraint = /^(?:primary|unique|check|constraint|foreign|exclude)\b/;
  const added = (table: string): readonly string[] =>
    [...sql.matchAll(new RegExp(`alter table etl\\.${table}\\n([\\s\\S]*?);`, 'g'))].flatMap(([, body]) =>
      [...body!.matchAll(/add column (\w+)/g)].map(([, column]) => column!),
    );
  const tables = [...sql.matchAll(/create (?:unlogged )?table etl\.(\w+) \(\n([\s\S]*?)\n\);/g)].map(
    ([, table, body]) => ({
      table: table!,
      columns: [
        ...body!
          .split('\n')
          .map((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? '')
          .filter((name) => name !== '' && !constraint.test(name)),
        ...added(table!),
      ],
    }),
  );
  const section = (table: string): string => schema.split(`\n## etl.${table}\n`)[1]?.split('\n## ')[0] ?? '';

  it('is compared with all tables of the migrations', () => {
    expect(tables.map(({ table }) => table)).toContain('chunk');
    expect([...schema.matchAll(/^## etl\.(\w+)$/gm)].map(([, table]) => table)).toEqual(
      expect.arrayContaining(tables.map(({ table }) => table)),
    );
  });

  it.each(tables)('describes every column of etl.$table, in order, and no other', ({ table, columns }) => {
    const described = [...section(table).matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(described).toEqual(columns);
  });
});
