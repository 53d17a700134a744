// Converts errors to plain data for another thread: cloning would keep neither class nor code.

import { EtlError, messageOf, type ErrorCode, type ErrorDetails } from '../../core/errors/errors.ts';

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: PlainError | undefined;
  /** Code of an EtlError, which is created again in the other thread. */
  readonly ours: ErrorCode | undefined;
  /** `details` of an EtlError; texts and numbers of another error, such as its SQLSTATE. */
  readonly details: ErrorDetails;
}

const textsOf = (error: object): ErrorDetails =>
  Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  );

export const plainError = (thrown: unknown): PlainError => {
  const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
  const { name, message, stack, cause } = error;
  const isOurs = error instanceof EtlError;
  return {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : plainError(cause),
    ours: isOurs ? error.code : undefined,
    details: isOurs ? error.details : textsOf(error),
  };
};

export const errorFrom = ({ name, message, stack, cause, ours, details }: PlainError): Error => {
  const options = cause === undefined ? {} : { cause: errorFrom(cause) };
  const error =
    ours === undefined
      ? Object.assign(new Error(message, options), details, { name })
      : new EtlError(ours, details, options);
  if (stack !== undefined) error.stack = stack;
  return error;
};
