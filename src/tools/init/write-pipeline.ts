// Writes the text of the inferred pipeline: one line per column, with a comment about its values.

import type { Dialect } from '../../core/declaration.ts';
import { formatCount, onOneLine, plural } from '../../core/wording.ts';
import type { Decision } from './contract.ts';
import { plainDialect } from './delimiter.ts';
import { lossText, type Loss } from '../loss.ts';
import { shownText } from '../shown-text.ts';

export interface WrittenLocation {
  readonly path: string;
  readonly dialect: Dialect;
  readonly encoding?: string;
}

export interface WrittenTable {
  readonly name: string;
  readonly locations: readonly WrittenLocation[];
  readonly options: Readonly<Record<string, unknown>>;
  /** undefined: UTF-8, or each location has its own encoding. */
  readonly encoding: string | undefined;
  readonly dialect: Dialect;
  readonly header: readonly string[];
  /** Column name of each field of the header. */
  readonly columns: readonly string[];
  readonly decisions: readonly Decision[];
  readonly repeats: number;
  readonly key: readonly number[] | undefined;
  readonly records: number;
  /** Records that are rejected whatever types the columns have. */
  readonly faulty: number;
  /** Losses of whole records or files. Columns have their own. */
  readonly losses: readonly Loss[];
  readonly remarks: readonly string[];
}

interface WrittenPipeline {
  readonly name: string;
  readonly tables: readonly WrittenTable[];
  readonly file: string;
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const literal = (text: string): string => {
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFEFF]/gu,
      (character) => named[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
    );
  return `'${escaped}'`;
};

const valueText = (value: unknown): string => {
  if (typeof value === 'string') return literal(value);
  return Array.isArray(value) ? `[${value.map(valueText).join(', ')}]` : String(value);
};

const objectText = (options: Readonly<Record<string, unknown>>): string => {
  const entries = Object.entries(options).map(([name, value]) => `${name}: ${valueText(value)}`);
  return `{ ${entries.join(', ')} }`;
};

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

const csvOptions = ({ dialect, encoding, options }: WrittenTable): Readonly<Record<string, unknown>> => ({
  ...(encoding === undefined ? {} : { encoding }),
  ...dialectOptions(dialect, defaults),
  ...options,
});

const sourceText = (table: WrittenTable): string => {
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
const fieldText = (header: readonly string[], index: number): string => {
  const name = header[index]!;
  const same = header.flatMap((other, at) => (other === name ? [at] : []));
  if (name === '') return String(index + 1);
  return literal(same.length === 1 ? name : `${name}#${same.indexOf(index) + 1}`);
};

const evidenceOf = ({ values, missing, words, range }: Decision): string => {
  const all = values + missing;
  if (values === 0) return 'always empty';
  const nulls = words.map(([word, count]) => `${formatCount(count)} ${shownText(word)} → null`);
  const empty = missing - words.reduce((sum, [, count]) => sum + count, 0);
  return [
    `${formatCount(values)} of ${formatCount(all)}${range === undefined ? '' : `, ${range}`}`,
    ...(empty > 0 ? [`${formatCount(empty)} empty`] : []),
    ...nulls,
  ].join('; ');
};

/** Names of columns are letters of any script, and nearly always identifiers of JavaScript, too. */
const keyText = (name: string): string =>
  /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name) ? name : literal(name);

const columnLines = (table: WrittenTable, name: string, index: number): readonly string[] => {
  const decision = table.decisions[index]!;
  const { type, options, words, blanks, missing, doubts, losses } = decision;
  const tokens = [...words.map(([word]) => word), ...blanks];
  const nulls = tokens.length === 0 ? {} : { nulls: tokens };
  const all = { ...options, ...nulls };
  const second = Object.keys(all).length === 0 ? '' : `, ${objectText(all)}`;
  const column = `column.${type}(${fieldText(table.header, index)}${second})`;
  const nullable = missing > 0 || decision.values === 0 ? '.nullable()' : '';
  return [
    ...losses.map((loss) => `        // ! ${onOneLine(lossText(loss, name))}`),
    ...doubts.map((doubt) => `        // ${onOneLine(doubt)}`),
    `        ${keyText(name)}: ${column}${nullable}, // ${evidenceOf(decision)}`,
  ];
};

/** True for a field that is always empty and has no name, as in lines that end with a delimiter. */
const isLeftOut = ({ header, decisions, dialect }: WrittenTable, index: number): boolean =>
  dialect.header !== false && header[index] === '' && decisions[index]!.values === 0;

const filterLines = ({ header, decisions, repeats }: WrittenTable): readonly string[] => {
  const index = decisions.findIndex(({ type }) => type !== 'text');
  if (repeats === 0 || index === -1) return [];
  const field = fieldText(header, index);
  const test = `(fields) => fields[${field}] !== ${literal(header[index]!)}`;
  return [`      filter: when(${test}, [${field}]), // the header is repeated ${formatCount(repeats)}×`];
};

const tableLines = (table: WrittenTable): readonly string[] => {
  const { columns: names } = table;
  const key = table.key?.map((index) => literal(names[index]!));
  const kept = names.flatMap((name, index) => (isLeftOut(table, index) ? [] : [[name, index] as const]));
  const left = names.length - kept.length;
  const remarks = [
    ...table.remarks,
    ...(left > 0 ? [`${plural(left, 'field')} without a name and always empty: left out`] : []),
  ];
  return [
    ...table.losses.map((loss) => `    // ! ${onOneLine(lossText(loss))}`),
    ...remarks.map((remark) => `    // ${onOneLine(remark)}`),
    `    ${table.name}: {`,
    `      source: ${sourceText(table)},`,
    '      columns: {',
    ...kept.flatMap(([name, index]) => columnLines(table, name, index)),
    '      },',
    ...filterLines(table),
    ...(table.faulty === 0 ? [] : [`      rejectLimit: ${table.faulty}, // as many records are faulty`]),
    ...(key === undefined
      ? []
      : [`      primaryKey: [${key.join(', ')}], // unique in ${plural(table.records, 'record')}`]),
    '    },',
  ];
};

export const pipelineText = ({ name, tables, file }: WrittenPipeline): string =>
  [
    `// Written by \`etl init\` from all records of the files; the comments say how many values fit each type. Check names and types,`,
    '// and every column that a comment calls "kept as text".',
    '//',
    `//   npx etl run ${onOneLine(file)}`,
    '',
    `import { column, csv, definePipeline${tables.some((table) => filterLines(table).length > 0) ? ', when' : ''} } from 'sluice';`,
    '',
    'export default definePipeline({',
    `  name: ${literal(name)},`,
    `  schema: ${literal(name)},`,
    '  tables: {',
    ...tables.flatMap((table, index) => [...(index > 0 ? [''] : []), ...tableLines(table)]),
    '  },',
    '});',
    '',
  ].join('\n');
