// Documentation that stays true: links lead somewhere, named tests exist, pages have every key, type, event and table.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorOf } from '../../../docs/.vitepress/anchor.ts';
import type { ColumnType, ValueShape } from '../../../src/format/types/contract.ts';
import { columnTypes } from '../../../src/format/types/registry.ts';
import { filesBelow, readProjectFile, root } from './source-files.ts';

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].map((path) => ({
    path,
    text: readProjectFile(path),
  })),
  ...filesBelow('docs', '.md'),
];

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

const shownFiles = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/<!-- file: (.+?) -->\n```\w+\n([\s\S]*?)```/g)].map(([, file, code]) => ({
    path,
    file,
    code,
  })),
);
it.each(shownFiles)('$path shows $file as it is', ({ file, code }) =>
  expect(code).toBe(readProjectFile(file!)),
);

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

/** Keys of an interface or type of src/, by its text: those at its first level that may have a value. */
const keysOf = (path: string, name: string): readonly string[] => {
  const [, body = ''] = readProjectFile(path).split(new RegExp(`(?:interface|type) ${name}\\b[^{]*\\{\\n`));
  return [...body.split('\n}')[0]!.matchAll(/^ {2}(?:readonly )?(\w+)\??:(?! undefined;)/gm)].map(
    ([, key]) => key!,
  );
};

/** What a page says from a heading to the next. */
const sectionOf = (page: string, heading: string): string => {
  const [, section = ''] = `\n${readProjectFile(page)}`.split(`\n${heading}\n`);
  return section.split(/\n#+ /)[0]!;
};

/** Keys in the first column of a section's table, the first one or another; `a`, `b` are two. */
const describedKeys = (page: string, heading: string, table = 0): readonly string[] => {
  const rows = sectionOf(page, heading).match(/(?<=^\|-.*\n)(?:\|.*\n)+/gm)?.[table] ?? '';
  return [...rows.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`/g)].map(([, key]) => key!),
  );
};

describe('reference pages', () => {
  const table = 'src/pipeline/declare/table.ts';
  const model = 'src/core/model.ts';
  const pipeline = 'docs/reference/pipeline.md';
  const events = 'docs/reference/events.md';
  const tables: readonly { of: string; at: readonly [string, string, number?]; keys: readonly string[] }[] = [
    {
      of: 'a pipeline',
      at: [pipeline, '## definePipeline'],
      keys: ['Named', 'Definition'].flatMap((name) => keysOf('src/pipeline/define-pipeline.ts', name)),
    },
    {
      of: 'a table from files',
      at: [pipeline, '## A table from files'],
      keys: ['SourceKeys', 'TypedTable', 'TextTable', 'RowKey'].flatMap((name) => keysOf(table, name)),
    },
    {
      of: 'a derived table',
      at: [pipeline, '## A derived table'],
      keys: ['DerivedTable', 'RowKey'].flatMap((name) => keysOf(table, name)),
    },
    { of: 'every table', at: [pipeline, '## Keys of every table'], keys: keysOf(table, 'CommonKeys') },
    { of: 'a guard', at: [pipeline, '## guard'], keys: keysOf(table, 'Guard') },
    {
      of: 'an index',
      at: [pipeline, '## index(columns, options)'],
      keys: keysOf('src/pipeline/declare/index-definition.ts', 'IndexOptions'),
    },
    {
      of: 'csv()',
      at: ['docs/reference/dialect.md', '# Dialect'],
      keys: [
        ...keysOf('src/core/dialect.ts', 'Dialect'),
        ...keysOf('src/pipeline/declare/csv.ts', 'CsvOptions'),
      ],
    },
    {
      of: 'a run',
      at: ['docs/reference/library.md', '### RunOptions'],
      keys: keysOf('src/run/options.ts', 'RunOptions'),
    },
    { of: 'a result', at: [events, '## The result'], keys: keysOf(model, 'RunResult') },
    {
      of: 'the result of a table',
      at: [events, '## The result', 1],
      keys: ['TableResult', 'Counts'].flatMap((name) => keysOf(model, name)),
    },
    { of: 'a profile', at: [events, '## The profile'], keys: keysOf('src/core/profile.ts', 'RunProfile') },
    {
      of: 'the types of events',
      at: [events, '# Events'],
      keys: [
        ...readProjectFile('src/core/run-event.ts')
          .split('type RunEvent')[1]!
          .matchAll(/type: '(\w+)'/g),
      ].map(([, type]) => type!),
    },
  ];

  it.each(tables)('the table of $of has its keys, and no others', ({ at, keys }) => {
    expect(keys).not.toEqual([]);
    expect(describedKeys(...at).toSorted()).toEqual([...new Set(keys)].toSorted());
  });

  const columns = 'docs/reference/columns.md';
  const headings = readProjectFile(columns).match(/^### .*$/gm)!;
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

  it.each(types)(
    'columns.md describes $name, its values and its options, and no others',
    ({ name, type }) => {
      const section = sectionOf(columns, headings.find((line) => line.includes(`\`${name}\``)) ?? 'none');
      expect(section).toContain('JavaScript');
      expect(section).toContain(inJavaScript[type.value({}).kind]);
      const [, list = ''] = /options? ((?:`\w+`(?: \(required\))?,?\s)*`\w+`)/.exec(section) ?? [];
      expect(Array.from(list.matchAll(/`(\w+)`/g), ([, key]) => key)).toEqual(
        // The type of `of` is its first argument.
        Object.keys(type.options).filter((key) => key !== 'sqlType'),
      );
    },
  );

  it('columns.md describes every option of numbers', () =>
    expect(describedKeys(columns, '## Options of numbers').toSorted()).toEqual(
      Object.keys(columnTypes.numeric.options).toSorted(),
    ));
});

describe('tests.md', () => {
  it('leaves it to every test helper to say in its first line what it is for', () => {
    const silent = filesBelow('test/helpers', '').filter(({ text }) => !/^\/\/ \S/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('names no helper that does not exist', () => {
    const cells = readProjectFile('docs/tests.md').match(/^\| `[\w.-]+\.ts`.*? \|/gm) ?? [];
    const listed = cells.flatMap((cell) => Array.from(cell.matchAll(/`([\w.-]+)`/g), ([, name]) => name!));
    expect(listed).toContain('server.ts');
    expect(listed.filter((name) => !existsSync(join(root, 'test/helpers', name)))).toEqual([]);
  });
});

describe('schema.md', () => {
  const schema = readProjectFile('docs/reference/schema.md');
  const sql = filesBelow('src/db/bookkeeping/migrations', '.sql')
    .map(({ text }) => text)
    .join('\n');
  const constraint = /^(?:primary|unique|check|constraint|foreign|exclude)\b/;
  const tables = [
    ...sql.matchAll(/create (?:unlogged )?table etl\.(\w+) \(\n([\s\S]*?)\n\)(?: with \(.*\))?;/g),
  ].map(([, table, body]) => ({
    table: table!,
    columns: [
      ...body!
        .split('\n')
        .map((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? '')
        .filter((name) => name !== '' && !constraint.test(name)),
      ...[...sql.matchAll(/^alter table etl\.(\w+) add column (\w+) /gm)]
        .filter(([, altered]) => altered === table)
        .map(([, , added]) => added!),
    ],
  }));
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
