// Writes the text of the inferred pipeline: one line per column, with a comment about its values.

import { keyText, literal, objectText } from '../../core/source-text.ts';
import { formatCount, onOneLine, plural } from '../../core/wording.ts';
import type { Decision } from './contract.ts';
import { lossText, type Loss } from '../loss.ts';
import { fieldText, pipelineText, type TableText, type WrittenSource } from './pipeline-text.ts';
import { shownText } from '../shown-text.ts';

export interface WrittenTable extends WrittenSource {
  readonly name: string;
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
    ...losses.map((loss) => `// ! ${onOneLine(lossText(loss, name))}`),
    ...doubts.map((doubt) => `// ${onOneLine(doubt)}`),
    `${keyText(name)}: ${column}${nullable}, // ${evidenceOf(decision)}`,
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
  return [`filter: when(${test}, [${field}]), // the header is repeated ${formatCount(repeats)}×`];
};

export const initTableText = (table: WrittenTable): TableText => {
  const { name, columns: names, faulty, key, records } = table;
  const kept = names.flatMap((column, index) => (isLeftOut(table, index) ? [] : [[column, index] as const]));
  const left = names.length - kept.length;
  const fields = key?.map((index) => literal(names[index]!));
  return {
    name,
    source: table,
    remarks: [
      ...table.losses.map((loss) => `! ${lossText(loss)}`),
      ...table.remarks,
      ...(left > 0 ? [`${plural(left, 'field')} without a name and always empty: left out`] : []),
    ],
    columns: kept.flatMap(([column, index]) => columnLines(table, column, index)),
    options: [
      ...filterLines(table),
      ...(faulty === 0 ? [] : [`rejectLimit: ${faulty}, // as many records are faulty`]),
      ...(fields === undefined
        ? []
        : [`primaryKey: [${fields.join(', ')}], // unique in ${plural(records, 'record')}`]),
    ],
  };
};

/** Text of the pipeline in `file`, which is named after the file. */
export const initPipelineText = ({ name, tables, file }: WrittenPipeline): string =>
  pipelineText({
    about: [
      'Written by `etl init` from all records of the files; the comments say how many values fit each type. Check names and types,',
      'and every column that a comment calls "kept as text".',
      '',
      `  npx sluice run ${file}`,
    ],
    name,
    schema: name,
    tables: tables.map(initTableText),
  });
