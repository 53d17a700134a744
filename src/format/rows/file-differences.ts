// Finds how a file's header differs from the fields that its table names, for the ledger.

import type { FieldRef } from '../../core/declaration.ts';
import type { HeaderDifferences } from '../../core/model.ts';
import { mainName, refText, type FileFields } from '../records/file-fields.ts';

export const extraFields = (
  { header, indexOf }: FileFields,
  needed: readonly FieldRef[],
): readonly number[] => {
  const used = new Set(needed.map(indexOf));
  return [...header.keys()].filter((index) => !used.has(index));
};

export const fieldText = (header: readonly string[], index: number): string =>
  header[index] === '' ? `field ${index + 1}` : header[index]!;

export const differencesOf = (fields: FileFields, needed: readonly FieldRef[]): HeaderDifferences | null => {
  const { header, indexOf } = fields;
  const missing = needed.filter((ref) => indexOf(ref) === -1).map(refText);
  const extra = extraFields(fields, needed).map((index) => fieldText(header, index));
  const renamed = needed.flatMap((ref) => {
    const found = header[indexOf(ref)];
    const isNamed = typeof ref === 'object' ? 'from' in ref : typeof ref === 'string';
    const wanted = mainName(ref);
    const isSame = found === undefined || found === wanted || found === wanted.replace(/#\d+$/, '');
    return isNamed && !isSame ? [{ wanted, found }] : [];
  });
  return missing.length + extra.length + renamed.length === 0 ? null : { missing, extra, renamed };
};
