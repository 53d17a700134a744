// The error class, and the catalogue of all error codes.

import { definitionErrors } from './definition.ts';
import type { RetryClass } from './entry.ts';
import { pageErrors } from './page.ts';
import { publishErrors } from './publish.ts';
import { runErrors } from './run.ts';
import { serverErrors } from './server.ts';
import { sourceErrors } from './source.ts';
import { visible } from '../wording.ts';

export { exitCodes, type RetryClass } from './entry.ts';

/** docs/reference/errors.md shows every code (test/unit/project/catalogue.test.ts). */
export const catalogue = {
  ...definitionErrors,
  ...sourceErrors,
  ...serverErrors,
  ...runErrors,
  ...publishErrors,
  ...pageErrors,
} as const;

/** All codes of EtlError. docs/reference/errors.md says what each means and what to do. */
export type ErrorCode = keyof typeof catalogue;

export type ErrorDetails = Readonly<Record<string, string | number | null | undefined>>;

/**
 * True for details with line breaks of their own. In other details, line breaks are escaped,
 * because they could fake lines of a message.
 */
const isList = (name: string): boolean => name === 'problems' || name === 'examples';

const fill = (template: string, details: ErrorDetails): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(details[name] ?? '');
    return visible(text, isList(name) ? '\n' : '');
  });

/**
 * The only error that sluice throws at its users.
 *
 * `code` never changes its meaning. `details` has the values that the message names, `hint` says
 * what to do, `exit` is the exit code of the command line, and `cause` is the original error.
 */
export class EtlError extends Error {
  /** Always 'EtlError', also for an error of another copy of sluice. */
  override readonly name = 'EtlError';
  /**
   * What went wrong: a code of docs/reference/errors.md, such as 'ETL_CONNECT'. Its meaning never
   * changes.
   */
  readonly code: ErrorCode;
  /** The values that the message names, such as the file and the table. */
  readonly details: ErrorDetails;
  /** What was kept, and what to do next. The command line prints it below the message. */
  readonly hint: string;
  /** What may help without a person: 'never', loading the 'chunk' again, or a new 'run'. */
  readonly retry: RetryClass;
  /** Exit code of the command line for this error. */
  readonly exit: number;
  /** Number of the run that the error ended; undefined: the run had no number yet. */
  run: number | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    const entry = catalogue[code];
    super(fill(entry.message, details), options);
    this.code = code;
    this.details = details;
    this.hint = fill(entry.hint, details).trim();
    this.retry = entry.retry;
    this.exit = entry.exit;
  }

  /** Makes JSON.stringify write the message, which it leaves out of other errors; not the cause. */
  toJSON(): object {
    const { name, code, message, hint, details, run, retry, exit } = this;
    return { name, code, message, hint, details, run, retry, exit };
  }
}

export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

export const codeOf = (thrown: unknown): string | undefined => {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
};

/** True for five characters with at least one digit, unlike the system error EPIPE. */
export const isSqlState = (code: string | undefined): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(code ?? '');

/** Wraps any other error as ETL_INTERNAL, so that users get only errors with a code. */
export const asEtlError = (thrown: unknown): EtlError =>
  thrown instanceof EtlError
    ? thrown
    : new EtlError('ETL_INTERNAL', { problem: messageOf(thrown) }, { cause: thrown });
