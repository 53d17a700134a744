// Checks `lineage` and adds its columns.

import { z } from 'zod';
import {
  lineageNames,
  type ColumnSpec,
  type LineageName,
  type PublishSpec,
  type SourceTableSpec,
} from '../../core/declaration.ts';
import { columnsMax } from '../../core/limits.ts';
import { fileColumn } from '../../db/names.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { choice, mustBe, type Problems } from '../problems.ts';
import { madeColumn } from './made-column.ts';
import { fileIndex } from './modes/file-column.ts';

/** Number of columns that merge and history add to compare rows (merge/differences.ts). */
const columnsToCompare = 3;
/** Number of columns that history adds to the published table: the column `to`. */
const columnsOfHistory = 1;

/** Refuses a table that exceeds PostgreSQL's limit only because of the columns that a run adds. */
const checkWidth = (
  { columns, attributes, publish }: SourceTableSpec,
  lineage: number,
  problems: Problems,
): void => {
  const { rowsKnownBy, versions } = meaningOf(publish);
  const published = publishedColumns({ columns }).length + (attributes?.serverColumns ?? []).length;
  const added =
    lineage +
    (rowsKnownBy === 'key' ? columnsToCompare : 0) +
    (versions === undefined ? 0 : columnsOfHistory);
  if (published <= columnsMax && published + added > columnsMax)
    problems.add(
      `has ${published} columns, lineage and publish need ${added} more, and PostgreSQL allows ${columnsMax}; leave some out`,
    );
};

export const lineageSchema = z
  .preprocess(
    (written) => (written === true ? lineageNames : written === false ? [] : written),
    z.array(choice(lineageNames), mustBe(`true, or a list of ${lineageNames.join(', ')}`)),
  )
  .default([]);

export const lineageOf = (asked: readonly LineageName[], publish: PublishSpec): readonly LineageName[] => {
  const { fileNeed } = meaningOf(publish);
  return lineageNames.filter(
    (name) => asked.includes(name) || (name === fileColumn && fileNeed !== undefined),
  );
};

const lineageColumn = (name: LineageName): ColumnSpec =>
  madeColumn(name, name === '_loaded_at' ? 'timestamptz' : 'bigint', {
    headers: [],
    lineage: name,
    separator: '',
  });

export const withLineage = (
  table: SourceTableSpec,
  asked: readonly LineageName[],
  problems: Problems,
): SourceTableSpec => {
  const { name, publish, staging, columns, indexes } = table;
  const { fileNeed } = meaningOf(publish);
  if (asked.length > 0 && staging === 'text')
    problems.add(
      "lineage needs columns, because SQL does not keep the file and the line of a row; remove lineage or staging: 'text'",
    );
  const lineage = lineageOf(asked, publish);
  for (const taken of lineage.filter((made) => columns.some((column) => column.name === made))) {
    const maker = asked.includes(taken) ? 'lineage makes' : `${fileNeed} make`;
    problems.at(`column ${taken}`).add(`${maker} a column of this name; choose another name`);
  }
  checkWidth(table, lineage.length, problems);
  return {
    ...table,
    columns: [...columns, ...lineage.map(lineageColumn)],
    indexes: fileNeed === undefined ? indexes : [...indexes, fileIndex(name)],
  };
};
