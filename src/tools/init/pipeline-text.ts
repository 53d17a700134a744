// Writes the text of a pipeline: the frame around columns that others have written.

import type { Dialect } from '../../core/declaration.ts';
import { keyText, literal, objectText } from '../../core/source-text.ts';
import { onOneLine } from '../../core/wording.ts';
import { plainDialect } from './delimiter.ts';

export interface WrittenLocation {
  readonly path: string;
  readonly dialect: Dialect;
  readonly encoding?: string;
}

/** The files of a table, and how they are read. */
export interface WrittenSource {
  readonly locations: readonly WrittenLocation[];
  readonly options: Readonly<Record<string, unknown>>;
  /** undefined: UTF-8, or each location has its own encoding. */
  readonly encoding: string | undefined;
  readonly dialect: Dialect;
}

const defaults: Dialect = { ...plainDialect, header: true };

const guessedOptions = [
  'delimiter',
  'quote',
  'escape',
  'quotes',
  'lineEnd',
  'header',
  'headerLines',
  'skipLines',
  'comment',
  'trim',
  'ragged',
] as const;

const dialectOptions = (dialect: Dialect, other: Dialect): Readonly<Record<string, unknown>> => {
  const differ = guessedOptions.filter(
    (name) => JSON.stringify(dialect[name]) !== JSON.stringify(other[name]),
  );
  const isQuote = dialect.escape === dialect.quote && other.escape === other.quote;
  return Object.fromEntries(
    differ.flatMap((name) => (name === 'escape' && isQuote ? [] : [[name, dialect[name]]])),
  );
};

const csvOptions = ({ dialect, encoding, options }: WrittenSource): Readonly<Record<string, unknown>> => ({
  ...(encoding === undefined ? {} : { encoding }),
  ...dialectOptions(dialect, defaults),
  ...options,
});

const sourceText = (table: WrittenSource): string => {
  const options = csvOptions(table);
  const locations = table.locations.map(({ path, encoding, dialect }) => {
    const own = {
      ...(encoding === undefined ? {} : { encoding }),
      ...dialectOptions(dialect, table.dialect),
    };
    return Object.keys(own).length === 0 ? literal(path) : objectText({ path, ...own });
  });
  const paths =
    locations.length === 1
      ? locations[0]!
      : `[\n${locations.map((location) => `        ${location},\n`).join('')}      ]`;
  return `csv(${paths}${Object.keys(options).length === 0 ? '' : `, ${objectText(options)}`})`;
};

/** Returns a field's name in a column: header, `Name#2` if the header is repeated, or position. */
export const fieldText = (header: readonly string[], index: number): string => {
  const name = header[index]!;
  const same = header.flatMap((other, at) => (other === name ? [at] : []));
  if (name === '') return String(index + 1);
  return literal(same.length === 1 ? name : `${name}#${same.indexOf(index) + 1}`);
};

/** Lines of a table, without their indentation. */
export interface TableText {
  readonly name: string;
  readonly remarks: readonly string[];
  readonly source: WrittenSource;
  readonly columns: readonly string[];
  /** Options after the columns. */
  readonly options: readonly string[];
}

const tableLines = ({ name, remarks, source, columns, options }: TableText): readonly string[] => [
  ...remarks.map((remark) => `    // ${onOneLine(remark)}`),
  `    ${keyText(name)}: {`,
  `      source: ${sourceText(source)},`,
  '      columns: {',
  ...columns.map((line) => `        ${line}`),
  '      },',
  ...options.map((line) => `      ${line}`),
  '    },',
];

interface PipelineText {
  /** Lines of the comment at the top. */
  readonly about: readonly string[];
  readonly name: string;
  readonly schema: string;
  readonly tables: readonly TableText[];
}

export const pipelineText = ({ about, name, schema, tables }: PipelineText): string => {
  const isFiltered = tables.some(({ options }) => options.some((line) => line.startsWith('filter: when(')));
  const imports = ['column', 'csv', 'definePipeline', ...(isFiltered ? ['when'] : [])];
  return [
    ...about.map((line) => `// ${onOneLine(line)}`.trimEnd()),
    '',
    `import { ${imports.join(', ')} } from 'sluice';`,
    '',
    'export default definePipeline({',
    `  name: ${literal(name)},`,
    `  schema: ${literal(schema)},`,
    '  tables: {',
    ...tables.flatMap((table, index) => [...(index > 0 ? [''] : []), ...tableLines(table)]),
    '  },',
    '});',
    '',
  ].join('\n');
};
