// One error class and the catalogue: for each code what it says, what to do, whether to retry, and the exit code.

import { definitionErrors } from './catalogue/definition.ts';
import type { RetryClass } from './catalogue/entry.ts';
import { pageErrors } from './catalogue/page.ts';
import { publishErrors } from './catalogue/publish.ts';
import { runErrors } from './catalogue/run.ts';
import { serverErrors } from './catalogue/server.ts';
import { sourceErrors } from './catalogue/source.ts';
import { visible } from '../wording.ts';

export { exitCodes, type RetryClass } from './catalogue/entry.ts';

/** Every code that sluice can throw. docs/reference/errors.md lists them; test/unit/project/catalogue.test.ts compares. */
export const catalogue = {
  ...definitionErrors,
  ...sourceErrors,
  ...serverErrors,
  ...runErrors,
  ...publishErrors,
  ...pageErrors,
} as const;

export type ErrorCode = keyof typeof catalogue;

export type ErrorDetails = Readonly<Record<string, string | number | null | undefined>>;

/** Details of several lines, which `asList` has made. Any other could forge lines by a line break in it. */
const isList = (name: string): boolean => name === 'problems' || name === 'examples';

const fill = (template: string, details: ErrorDetails): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(details[name] ?? '');
    return visible(text, isList(name) ? '\n' : '');
  });

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
  /** Number of the run that it ended; undefined when it came before there was one. */
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
}

/** The error's message, whatever was thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The error's code (SQLSTATE, Node's error code or ours), or undefined. */
export const codeOf = (thrown: unknown): string | undefined => {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
};

/** SQLSTATE: five characters, a digit among them, which EPIPE lacks. */
export const isSqlState = (code: string | undefined): boolean => /^(?=.*\d)[0-9A-Z]{5}$/.test(code ?? '');

/** Wraps anything that is not ours as ETL_INTERNAL, so that every door reports one kind of error. */
export const asEtlError = (thrown: unknown): EtlError =>
  thrown instanceof EtlError
    ? thrown
    : new EtlError('ETL_INTERNAL', { problem: messageOf(thrown) }, { cause: thrown });
