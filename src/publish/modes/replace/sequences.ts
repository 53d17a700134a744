// Sequences of identity columns of swapped tables: they keep their names, and no number is given
// twice.

import { quoteName, quoteText } from '../../../db/sql.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import { fittingName } from '../../../db/names.ts';

/** Temporary sequence names: of the new table before the swap, of the old one after it. */
const waitingSequence = ({ builtAs }: BuiltOver, place: number): string =>
  `etl_new_${builtAs.oid}_seq_${place}`;
const oldSequence = (oid: number, place: number): string => `etl_old_${oid}_seq_${place}`;

/** Call this before a new table is moved: its sequences move with it. */
export const hideSequences = (swap: BuiltOver): readonly string[] =>
  swap.builtAs.sequences.map(
    ({ name }, place) =>
      `alter sequence ${quoteName(swap.table.buildSchema, name)} rename to ${quoteName(waitingSequence(swap, place))};`,
  );

/** Under the lock on the old table: new sequences continue its numbers and free its names. */
export const takeOver = (swap: BuiltOver): readonly string[] => {
  const { table, builtAs, production } = swap;
  const old = production?.sequences ?? [];
  return [
    ...builtAs.sequences.flatMap(({ column }, place) => {
      const before = old.find((one) => one.column === column);
      if (before === undefined) return [];
      const name = quoteName(table.schema, waitingSequence(swap, place));
      return [
        `select setval(${quoteText(name)}, last_value, is_called) from (
          select last_value, is_called from ${quoteName(table.schema, before.name)} union all select last_value, is_called from ${name}
          order by 1 desc, 2 desc limit 1) s;`,
      ];
    }),
    ...old.map(
      ({ name }, place) =>
        `alter sequence ${quoteName(table.schema, name)} rename to ${quoteName(oldSequence(production!.oid, place))};`,
    ),
  ];
};

/** Call this once the old table's sequences are renamed. */
export const nameSequences = (swap: BuiltOver): readonly string[] =>
  swap.builtAs.sequences.map(({ column }, place) => {
    const { table, production } = swap;
    const before = production?.sequences.find((one) => one.column === column);
    const name = before?.name ?? fittingName(`${table.table}_${column}_seq`);
    return `alter sequence ${quoteName(table.schema, waitingSequence(swap, place))} rename to ${quoteName(name)};`;
  });
