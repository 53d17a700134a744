// Sequences that number the rows of a table which people made: of serial and identity columns.

import type { Client } from '../../db/client.ts';
import { productionName } from '../../db/names.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import type { BuiltOver } from './built-over.ts';
import { writtenColumns, type OwnedSequence } from './table-state.ts';

/** Returns the sequences whose columns the run fills. */
const filledSequences = ({ builtAs, production }: BuiltOver): readonly OwnedSequence[] => {
  const filled = new Set(writtenColumns(builtAs.columns).map(({ name }) => name));
  return (production?.ownedSequences ?? []).filter(({ column }) => filled.has(column));
};

/** Says which sequences the role may not set. */
export const sequencesLeft = (over: BuiltOver): readonly string[] =>
  filledSequences(over)
    .filter(({ maySet }) => !maySet)
    .map(
      ({ name, column }) =>
        `${name} is not set past the values of ${column}, because the role lacks a privilege: select on the column, or select and update on the sequence`,
    );

/**
 * Sets the sequences of filled columns past the largest value of the table, once the rows are
 * written: an insert that comes later would otherwise get a number that is taken. Sequences are
 * never set back. An index on the column, which nearly all have, finds the value at once.
 */
export const advanceSequences = async (client: Client, over: BuiltOver): Promise<void> => {
  const texts = filledSequences(over)
    .filter(({ maySet }) => maySet)
    .map(
      ({ column, name, max }) =>
        `select setval(${quoteText(name)}::regclass, r.largest)
          from (select max(${quoteName(column)})::bigint as largest from ${productionName(over.table)}) r, ${name} q
          where r.largest between 1 and ${max} and (r.largest > q.last_value or (r.largest = q.last_value and not q.is_called))`,
    );
  if (texts.length > 0) await client.query(texts.join(' union all '));
};
