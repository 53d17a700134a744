// Runs the tables of the column type tests: one row per text, with the result of the reader.

import { describe, expect, it } from 'vitest';
import type { ColumnOptions } from '../../../../src/core/declaration.ts';
import type { ColumnType } from '../../../../src/format/types/contract.ts';
import { columnTypes } from '../../../../src/format/types/registry.ts';
import type { RejectCode } from '../../../../src/core/model.ts';

/** A text that is read as it is, or `text→what the reader returns`. */
type Accepted = string | readonly [text: string, read: string];

/** A text, maybe with the reason. */
type Refused = string | readonly [text: string, reason: string];

const pair = (row: Accepted): readonly [string, string] => {
  const [text, read = text] = typeof row === 'string' ? (row.split('→') as [string, string?]) : row;
  return [text, read];
};

const title = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** A suite for a type with options. Every accepted and refused text is a test. */
export const describeReader = (
  name: string,
  type: ColumnType,
  options: ColumnOptions,
  accepted: readonly Accepted[],
  refused: Readonly<Partial<Record<RejectCode, readonly Refused[]>>> = {},
): void => {
  describe(name, () => {
    it('has no problem with its options', () => {
      expect(type.optionsProblem?.(options)).toBeUndefined();
    });
    const read = type.reader(options);
    it.each(accepted.map(pair).map(([text, result]) => ({ text, result, name: title(text) })))(
      'reads $name',
      ({ text, result }) => {
        expect(read(text)).toBe(result);
      },
    );
    const cases = Object.entries(refused).flatMap(([code, rows]) =>
      rows.map((row) => {
        const [text, reason = expect.any(String) as string] = typeof row === 'string' ? [row] : row;
        return { text, code, reason, name: title(text) };
      }),
    );
    it.each(cases)('refuses $name: $code', ({ text, code, reason }) => {
      expect(read(text)).toEqual({ code, reason });
    });
  });
};

const nameOf = (type: ColumnType): string =>
  Object.entries<ColumnType>(columnTypes).find(([, known]) => known === type)![0];

/** Options that a type must refuse, and words of the message. */
export const describeProblems = (
  type: ColumnType,
  rows: readonly (readonly [options: ColumnOptions, words: string])[],
): void => {
  describe(`options of ${nameOf(type)}`, () => {
    it.each(rows.map(([options, words]) => ({ options, words, name: JSON.stringify(options) })))(
      '$name: $words',
      ({ options, words }) => {
        expect(type.optionsProblem?.(options)).toContain(words);
      },
    );
  });
};

/** Conversion of texts to values and back. */
export const describeValues = (
  type: ColumnType,
  values: readonly (readonly [text: string, value: unknown])[],
  texts: readonly (readonly [value: unknown, text: string | undefined])[],
): void => {
  describe(`values of ${nameOf(type)}`, () => {
    it.each(values.map(([text, value]) => ({ text, value, name: title(text) })))(
      '$name',
      ({ text, value }) => {
        expect(type.toValue(text, {})).toEqual(value);
      },
    );
    it.each(texts.map(([value, text]) => ({ value, text, name: `${typeof value} ${String(value)}` })))(
      '$name as text: $text',
      ({ value, text }) => {
        expect(type.fromValue(value)).toBe(text);
      },
    );
  });
};
