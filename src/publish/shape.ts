// Judges whether a table may be published over what is in its place, by its columns.

import { EtlError } from '../errors.ts';
import { dependText } from './dependents.ts';
import type { DeclaredTable } from './names.ts';
import type { ProductionTable } from './production.ts';
import type { TableColumn } from './table-state.ts';

const written = ({ name, type }: TableColumn): string => `${name} ${type}`;

/** Columns that one has and the other has not, for people; empty when rows of one fit the other. */
const differenceOf = (declared: readonly TableColumn[], production: readonly TableColumn[]): string => {
  const [are, were] = [declared.map(written), production.map(written)];
  return [
    ...are.filter((column) => !were.includes(column)).map((column) => `declared ${column}`),
    ...were.filter((column) => !are.includes(column)).map((column) => `in the table ${column}`),
  ].join(', ');
};

/** Columns that neither the run made that published the table nor the declaration has now. */
const addedByHand = (declared: readonly TableColumn[], { columns, published }: ProductionTable): string[] => {
  const known = new Set([...declared.map(({ name }) => name), ...(published?.columns ?? [])]);
  return columns.map(({ name }) => name).filter((name) => !known.has(name));
};

/**
 * Throws when rows do not fit a table that has to stay, or when a swap would take away what no run has made: the table
 * itself, or columns of it. Proved by test/integration/publish-protects.test.ts.
 *
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED.
 */
export const refuseShape = (
  { schema, table }: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): void => {
  const name = `${schema}.${table}`;
  const { kind, dependents, published } = production;
  if (!['r', 'p'].includes(kind)) {
    const problem = `${name} is a view or something else that is no table`;
    throw new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate: '42809', problem, hint: 'Rename it.' });
  }
  const refuse = (problem: string, hint: string): never => {
    throw new EtlError('ETL_PUBLISH_SHAPE', { table, problem, hint });
  };
  const difference = differenceOf(declared, production.columns);
  if (difference === '') return;
  const differ = `its columns differ from the declaration: ${difference}`;
  if (dependents.length > 0)
    refuse(
      `${dependText(dependents)} on it, and ${differ}`,
      'Drop what depends on it, run, and create it again; or keep the columns as they are.',
    );
  if (published === undefined)
    refuse(`no run has published ${name}, and ${differ}`, 'Rename or drop it, or declare its columns.');
  // Recorded since 0007; before that nobody can tell.
  const added = published?.columns == null ? [] : addedByHand(declared, production);
  if (added.length > 0)
    refuse(
      `${added.length === 1 ? 'column' : 'columns'} ${added.join(', ')} ${added.length === 1 ? 'was' : 'were'} added by hand and would be lost with what is in there`,
      'Declare what was added, drop it, or keep it in another table.',
    );
};
