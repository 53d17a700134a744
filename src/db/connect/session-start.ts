// The statement that starts every session: search path, name and settings.

import { quoteText, searchPath } from '../sql.ts';

export interface SessionStart {
  readonly name: string;
  readonly schemas: readonly string[];
  /** Behind a pooler, nothing is set until `keepSettings`: the session may be given to others. */
  readonly waitsBehindPooler?: boolean;
}

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly since?: number;
  readonly systems?: string;
  readonly isPrivileged?: boolean;
}

/**
 * Settings of every session. The first ones let the server notice soon that our process is
 * gone, because its locks block the next run. Others make values read the same on every server
 * (test/integration/session-settings.test.ts).
 */
const settings: readonly Setting[] = [
  { name: 'client_connection_check_interval', value: '2s', since: 14, systems: 'linux' },
  { name: 'client_connection_check_interval', value: '2s', since: 15, systems: 'darwin|bsd' },
  { name: 'tcp_keepalives_idle', value: '10' },
  { name: 'tcp_keepalives_interval', value: '5' },
  { name: 'tcp_keepalives_count', value: '3', systems: 'linux|darwin|bsd' },
  { name: 'tcp_user_timeout', value: '30s', since: 12, systems: 'linux' },
  // No timeouts, because a load may idle, wait or work for hours; see also `startStatement`.
  { name: 'lock_timeout', value: '0' },
  { name: 'idle_in_transaction_session_timeout', value: '0' },
  { name: 'idle_session_timeout', value: '0', since: 14 },
  { name: 'transaction_timeout', value: '0', since: 17 },
  // After waiting for a lock, a query must see what other sessions committed meanwhile.
  { name: 'default_transaction_isolation', value: 'read committed' },
  // node-postgres parses these formats; SQL files rely on the order of day and month.
  { name: 'datestyle', value: 'ISO, MDY' },
  { name: 'intervalstyle', value: 'postgres' },
  // Returns all digits of floating-point numbers.
  { name: 'extra_float_digits', value: '1' },
  // Our quoting of texts relies on this.
  { name: 'standard_conforming_strings', value: 'on' },
  // We compare names in the server's texts with ours.
  { name: 'quote_all_identifiers', value: 'off' },
  // COPY reports skipped rows by notices. Does not replace a more verbose level, such as debug1.
  { name: 'client_min_messages', value: 'notice' },
  // With `off`, a null in an array would become the text NULL.
  { name: 'array_nulls', value: 'on' },
  // In parallel, Citus refuses to alter a table in a transaction that has written to another one
  // which refers to the same reference table (test/services/citus.test.ts). Copying is no slower.
  { name: 'citus.multi_shard_modify_mode', value: 'sequential' },
  // With `replica`, no foreign keys are checked. The run is refused if we may not change this.
  { name: 'session_replication_role', value: 'origin', isPrivileged: true },
];

const rowOf = ({ name, value, systems = '', isPrivileged = false }: Setting): string =>
  `(${[name, value, systems].map(quoteText).join(', ')}, ${isPrivileged})`;

/** SQL: true if we may change the setting. Privileges on settings exist since PostgreSQL 15. */
const maySet = (major: number): string =>
  major < 15
    ? '(select rolsuper from pg_roles where rolname = current_user)'
    : `has_parameter_privilege(name, 'set')`;

const hasCitus = `to_regclass('pg_catalog.pg_dist_partition') is not null`;

/** Set for the transaction of the statement, and then kept for the session. */
const keptOf = (name: string): string => `('${name}', current_setting('${name}'), '', false)`;

/**
 * Starts with `set` statements: they look up no names, so they are safe before the search path is
 * set, and fast enough for any timeout of the role. The server parses the `select`, which may be
 * slow on a busy server, only after it has executed them.
 *
 * `pid` is what the server sent at login. If a pooler sent it, nothing outlasts the statement: the
 * session may be another client's next. Without `pid`, the settings are kept in any case.
 */
export const startStatement = ({ name, schemas }: SessionStart, major: number, pid?: number): string => {
  const rows = settings.filter(({ since = 0 }) => major >= since).map(rowOf);
  const kept = ['statement_timeout', 'search_path', 'application_name'].map(keptOf);
  return [
    'set local statement_timeout = 0',
    `set local search_path = ${searchPath(schemas)}`,
    `set local application_name = ${quoteText(name)}`,
    `select case when ${pid === undefined ? 'true' : `pg_backend_pid() = ${pid}`} then set_config(name, value, false) end,
      pg_backend_pid() as pid, pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      ${hasCitus} as "hasCitus"
      from (values ${[...kept, ...rows].join(', ')}) as s (name, value, systems, privileged)
      where version() ~ systems
        and (name !~ '^citus' or ${hasCitus})
        and not (name = 'client_min_messages' and current_setting(name) ~ 'debug|log')
        and case when privileged then current_setting(name) <> value and ${maySet(major)} else true end`,
  ].join('; ');
};
