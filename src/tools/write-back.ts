// Writes a value of a table as its file would: the inverse of a column's reader.

import type { ColumnSpec } from '../core/declaration.ts';
import { isRefusal } from '../format/types/contract.ts';
import { patternWriter } from '../format/types/date-pattern.ts';
import { columnTypes, isTypeName } from '../format/types/registry.ts';
import { valuePrinter } from './print-value.ts';

export interface Typed {
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
}

type Write = (printed: string) => string;

const moment = /^(?:(\d{4})-(\d\d)-(\d\d))?[ ]?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:\+00)?$/;

const momentWriter = (format: string): Write => {
  const write = patternWriter(format);
  return (printed) => {
    const parts = moment.exec(printed);
    if (parts === null) return printed;
    const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0));
    const sample = {
      year: year!,
      month: month!,
      day: day!,
      hour: hour!,
      minute: minute!,
      second: second!,
      fraction: (parts[7] ?? '').padEnd(9, '0'),
      offset: 'Z',
    };
    const text = write(sample);
    return format.includes('MMM')
      ? text.replace(/[a-z]{3}/, (name) => name[0]!.toUpperCase() + name.slice(1))
      : text;
  };
};

const groupsOf = { indian: /\B(?=(?:\d\d)*\d{3}$)/g, three: /\B(?=(?:\d{3})+$)/g };

const numberWriter = ({ thousands = '', decimal = '.', grouping }: Typed['options']): Write => {
  const groups = grouping === 'indian' ? groupsOf.indian : groupsOf.three;
  return (printed) => {
    const [whole = '', fraction] = printed.split('.');
    const grouped = whole.replace(groups, String(thousands));
    return fraction === undefined ? grouped : `${grouped}${String(decimal)}${fraction}`;
  };
};

/** Returns a function that writes a printed value as the files of the column do. */
export const valueWriter = ({ type, options }: Typed): Write => {
  const { format, thousands, decimal } = options;
  if (thousands !== undefined || decimal !== undefined) return numberWriter(options);
  if (format !== undefined) return momentWriter([format].flat()[0] as string);
  const [yes, no] = [options['true'], options['false']].map((words) => (words as string[] | undefined)?.[0]);
  return type === 'boolean' ? (printed) => (printed === 'true' ? yes : no) ?? printed : (printed) => printed;
};

type FromField = (field: string) => string | undefined;

/** Returns a function from a field to its value as the server prints it; undefined: refused. */
export const storedValue = (column: Typed): FromField => {
  if (!isTypeName(column.type)) return (field) => field;
  const read = columnTypes[column.type].reader(column.options as never);
  const print = valuePrinter(column as ColumnSpec);
  return (field) => {
    const value = read(field);
    return isRefusal(value) ? undefined : print(value);
  };
};

/**
 * Returns a function from a field to the text that the declaration makes of the stored value, or
 * undefined if the column rejects the field. A field whose result is another text loses something.
 */
export const writeBack = (column: Typed): FromField => {
  const store = storedValue(column);
  const write = valueWriter(column);
  return (field) => {
    const value = store(field);
    return value === undefined ? undefined : write(value);
  };
};
