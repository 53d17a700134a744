// Asks the real server what it makes of literals, many in one query.

import { serverMajor } from '../helpers/major-server.ts';
import type { TestDatabase } from '../helpers/server.ts';

/** What PostgreSQL 16 and later have built in. A cast would cut texts to a length; a record's column refuses them. */
const pgInputIsValid = `create or replace function pg_input_is_valid(value text, type text) returns boolean language plpgsql as $$
  begin
    if type in ('json', 'jsonb') then execute format('select %L::%s', value, type);
    else execute format('select v from json_to_record(json_build_object(''v'', %L::text)) as r (v %s)', value, type);
    end if;
    return true;
  exception when data_exception or program_limit_exceeded then
    return false;
  end $$`;

/** Whether the server accepts each text for the type. */
export const serverTakes = async (
  database: TestDatabase,
  sqlType: string,
  texts: readonly string[],
): Promise<readonly boolean[]> => {
  if (serverMajor < 16) await database.query(pgInputIsValid);
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
