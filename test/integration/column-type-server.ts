// Asks the real server what it makes of literals, many in one query.

import type { TestDatabase } from '../helpers/server.ts';

/** Whether the server accepts each text for the type. */
export const serverTakes = async (
  database: TestDatabase,
  sqlType: string,
  texts: readonly string[],
): Promise<readonly boolean[]> => {
  const { rows } = await database.query<{ taken: boolean[] | null }>(
    `select array_agg(pg_input_is_valid(text, $2) order by place) as taken
       from unnest($1::text[]) with ordinality as list(text, place)`,
    [texts, sqlType],
  );
  return rows[0]?.taken ?? [];
};

/** What the server makes of each text, by an expression over `value`. */
export const serverReads = async (
  database: TestDatabase,
  sqlType: string,
  texts: readonly string[],
  expression = 'value::text',
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ read: string[] | null }>(
    `select array_agg(${expression} order by place) as read
       from (select text::${sqlType} as value, place
               from unnest($1::text[]) with ordinality as list(text, place)) as parsed`,
    [texts],
  );
  return rows[0]?.read ?? [];
};
