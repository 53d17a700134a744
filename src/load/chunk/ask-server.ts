// Asks the server which texts it refuses, and why.

import type { Client } from '../../db/client.ts';
import type { Fault } from '../../core/model.ts';
import { onOneLine } from '../../core/wording.ts';
import type { FileCopy } from './file-reader.ts';
import type { ServedTexts } from './served-texts.ts';

/** Returns no row before PostgreSQL 16, which cannot check texts. */
const selectTypes = `select name, format_type(atttypid, atttypmod) as type
  from unnest($2::text[]) with ordinality as c (name, place) join pg_attribute on attrelid = $1::regclass and attname = name
  where to_regprocedure('pg_input_error_info(text, text)') is not null order by place`;

const selectRefused = (index: number): string =>
  `select ${index} as index, t.text, e.sql_error_code || ' ' || e.message as reason
  from unnest($${2 * index + 1}::text[]) as t (text), pg_input_error_info(t.text, $${2 * index + 2}) as e
  where not pg_input_is_valid(t.text, $${2 * index + 2})`;

const typesOf = new WeakMap<FileCopy, readonly { readonly name: string; readonly type: string }[]>();

/** Calls `take` with each fault. Throws if a type ends the statement instead of listing faults. */
export const askServer = async (
  client: Client,
  copy: FileCopy,
  served: ServedTexts,
  take: (fault: Fault, records: readonly number[]) => void,
): Promise<void> => {
  const names = [...served.keys()];
  const types = typesOf.get(copy) ?? (await client.query(selectTypes, [copy.target, names])).rows;
  typesOf.set(copy, types);
  if (types.length === 0) return;
  const values = types.flatMap(({ name, type }) => [
    [...served.get(name)!.keys()].filter((text) => text !== null),
    type,
  ]);
  const text = types.map((_, index) => selectRefused(index)).join(' union all ');
  const { rows } = await client.query(`${text} order by index`, values);
  for (const { index, text: refused, reason } of rows) {
    const { name: column } = types[index]!;
    take({ column, code: 'server', reason: onOneLine(reason) }, served.get(column)!.get(refused)!);
  }
};
