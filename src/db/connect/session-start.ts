// The statement that every session of ours begins with: search path, name and settings, in one round trip; it gives the number of
// the server process, and whether the server is a standby or read-only.

import { quoteText, searchPath } from '../sql.ts';

export interface SessionStart {
  /** What the session is called on the server. */
  readonly name: string;
  /** Schemas on its search path, between pg_catalog and pg_temp. */
  readonly schemas: readonly string[];
}

interface Setting {
  readonly name: string;
  readonly value: string;
  /** The first major version that has it; without this, every version. */
  readonly since?: number;
  /** What version() says of the operating systems that have it; others refuse it, or complain in their log. */
  readonly systems?: string;
  /** Values that stay as they are: a pattern. */
  readonly kept?: string;
  /** Only some roles may set it. */
  readonly isPrivileged?: boolean;
}

/**
 * The server must notice within seconds when we are gone, because our locks and open transactions hold up the process that takes
 * over. And texts mean the same on every server, whatever its role and database have set
 * (test/integration/session-settings.test.ts).
 */
const settings: readonly Setting[] = [
  { name: 'client_connection_check_interval', value: '2s', since: 14, systems: 'linux' },
  { name: 'client_connection_check_interval', value: '2s', since: 15, systems: 'darwin|bsd' },
  { name: 'tcp_keepalives_idle', value: '10' },
  { name: 'tcp_keepalives_interval', value: '5' },
  { name: 'tcp_keepalives_count', value: '3', systems: 'linux|darwin|bsd' },
  { name: 'tcp_user_timeout', value: '30s', since: 12, systems: 'linux' },
  // A load idles, waits and works for hours: limits that a role has for its users are not meant for it.
  { name: 'statement_timeout', value: '0' },
  { name: 'lock_timeout', value: '0' },
  { name: 'idle_in_transaction_session_timeout', value: '0' },
  { name: 'idle_session_timeout', value: '0', since: 14 },
  { name: 'transaction_timeout', value: '0', since: 17 },
  // A session that waited for a lock sees what others have committed meanwhile, also in BullMQ's own transactions.
  { name: 'default_transaction_isolation', value: 'read committed' },
  // What node-postgres reads, and the order of day and month in a SQL file or a type that only the server knows.
  { name: 'datestyle', value: 'ISO, MDY' },
  { name: 'intervalstyle', value: 'postgres' },
  // Numbers that come back are those that went out.
  { name: 'extra_float_digits', value: '1' },
  // By which texts are quoted.
  { name: 'standard_conforming_strings', value: 'on' },
  // Names in the server's texts are compared with ours.
  { name: 'quote_all_identifiers', value: 'off' },
  // COPY tells of rows that it skips.
  { name: 'client_min_messages', value: 'notice', kept: 'debug|log' },
  // A null in a list stays one: a file that is in no archive is known by it.
  { name: 'array_nulls', value: 'on' },
  // With `replica` the server checks no foreign key and fires no trigger: preflight refuses that where we may not change it.
  { name: 'session_replication_role', value: 'origin', isPrivileged: true },
];

/** A row: name, value, the systems that take it, values that stay, and whether it needs a privilege. */
const rowOf = ({ name, value, systems = '', kept = '^$', isPrivileged = false }: Setting): string =>
  `(${[name, value, systems, kept].map(quoteText).join(', ')}, ${isPrivileged})`;

/** SQL: whether we may set it. Privileges for settings can be granted since PostgreSQL 15. */
const maySet = (major: number): string =>
  major < 15
    ? '(select rolsuper from pg_roles where rolname = current_user)'
    : `has_parameter_privilege(name, 'set')`;

/**
 * Each part is parsed after the one before it has run, so only `set`, which looks nothing up, comes before the path is safe. All
 * settings are one statement: planning one takes the server less time than executing fifteen.
 */
export const startStatement = ({ name, schemas }: SessionStart, major: number): string => {
  const rows = settings.filter(({ since = 0 }) => major >= since).map(rowOf);
  return [
    `set search_path = ${searchPath(schemas)}`,
    `set application_name = ${quoteText(name)}`,
    `select set_config(name, value, false), pg_backend_pid() as pid, pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only') = 'on' as "isReadOnly"
      from (values ${rows.join(', ')}) as s (name, value, systems, kept, privileged)
      where version() ~ systems and current_setting(name) !~ kept and case when privileged then current_setting(name) <> value and ${maySet(major)} else true end`,
  ].join('; ');
};
