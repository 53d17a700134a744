// The column _file. Modes that replace or delete the rows of single files need it.

import type { IndexSpec, PublishSpec } from '../../../core/declaration.ts';
import { fileColumn } from '../../../db/names.ts';
import { meaningOf } from '../../../publish/modes/meanings.ts';
import { defaultName } from '../../names.ts';
import type { Problems } from '../../problems.ts';
import type { PublishedTable } from './contract.ts';

/** Returns the index that finds the rows of a file. These rows are adjacent, so brin is enough. */
export const fileIndex = (table: string): IndexSpec => ({
  name: defaultName([table, fileColumn], 'idx'),
  columns: [fileColumn],
  using: 'brin',
  unique: false,
  where: undefined,
  include: [],
});

export const checkFileColumn = (
  { staging, publish }: PublishedTable<PublishSpec>,
  problems: Problems,
): void => {
  const { fileNeed } = meaningOf(publish);
  if (fileNeed !== undefined && staging === 'text')
    problems.add(
      `${fileNeed} need columns, because SQL does not keep the file of a row; remove staging: 'text'`,
    );
};
