// accepted: every value of the column is in a list.

import { quoteName, quoteText } from '../../db/sql.ts';
import {
  columnOf,
  defineTest,
  row,
  TestMisfit,
  type RowKind,
  type TestedColumn,
  type TestOptions,
} from './contract.ts';

export const equalityOf = ({ name, type, equals }: TestedColumn): string => {
  if (equals === null) throw new TestMisfit(`column ${name} is ${type}, whose values cannot be compared`);
  return equals;
};

const valuesShown = 5;

export const accepted = {
  per: 'row',
  define: <const Name extends string>(
    column: Name,
    values: readonly (string | number | bigint | boolean)[],
    options: TestOptions = {},
  ) => defineTest('accepted', [column], { values }, options),
  read: ({ columns: [name], of: { values } }, asked) => {
    if (!Array.isArray(values) || values.length === 0) {
      asked.add('needs a list of at least one value');
      return undefined;
    }
    const texts = values.map((value, index) => asked.text(`value ${index + 1}`, name!, value));
    return texts.every((text) => text !== undefined) ? { values: texts } : undefined;
  },
  fails: ({ columns: [name], of: { values } }, columns) => {
    const column = columnOf(columns, name!);
    const list = (values as readonly string[]).map(quoteText).join(', ');
    return `not (${row}.${quoteName(column.name)} ${equalityOf(column)} any (array[${list}]::${column.type}[]))`;
  },
  problem: ({ columns, of: { values } }) => {
    const all = values as readonly string[];
    const more = all.length > valuesShown ? ', …' : '';
    return `${columns[0]} is not one of ${all.slice(0, valuesShown).join(', ')}${more}`;
  },
} satisfies RowKind;
