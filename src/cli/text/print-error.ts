// Prints errors: code and message in red, then the hint. --debug adds stack traces and causes.

import { asEtlError, codeOf, exitCodes, messageOf, type EtlError } from '../../core/errors/errors.ts';
import { visibleJson } from '../../core/wording.ts';
import { visibleLines, visibleText } from '../layout.ts';
import type { Paint } from '../paint.ts';

export const exitOf = (error: EtlError): number =>
  error.code === 'ETL_INTERRUPTED' && error.details['signal'] === 'SIGTERM'
    ? exitCodes.terminated
    : error.exit;

const serverFields = [
  'detail',
  'hint',
  'where',
  'schema',
  'table',
  'column',
  'constraint',
  'position',
] as const;

/** Returns the frames of a stack trace. Skips the message, which may have lines like frames. */
const framesOf = ({ stack = '', message }: Error): string[] =>
  stack
    .slice(Math.max(stack.indexOf(message), 0) + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '));

const describeCause = (cause: unknown, depth: number): string[] => {
  const fields = cause as Readonly<Record<string, unknown>>;
  const extra = cause instanceof Error ? serverFields.filter((name) => fields[name] !== undefined) : [];
  const lines = [
    `caused by: ${[codeOf(cause), messageOf(cause)].filter(Boolean).join(' ')}`,
    ...extra.map((name) => `    ${name}: ${String(fields[name])}`),
    ...(cause instanceof Error ? framesOf(cause) : []),
  ].map(visibleText);
  const next = cause instanceof Error ? cause.cause : undefined;
  // A longer chain of causes is probably a cycle.
  return next === undefined || depth > 10 ? lines : [...lines, ...describeCause(next, depth + 1)];
};

const debugLines = (error: EtlError): string[] => [
  ...framesOf(error).map(visibleText),
  ...(error.cause === undefined ? [] : describeCause(error.cause, 1)),
];

export const errorLines = (thrown: unknown, paint: Paint, debug: boolean): string[] => {
  const error = asEtlError(thrown);
  const [first = '', ...rest] = visibleLines(error.message);
  return [
    paint('red', `error ${error.code}: ${first}`),
    ...rest,
    ...(error.hint ? visibleLines(error.hint).map((line) => `  ${line}`) : []),
    ...(debug ? debugLines(error).map((line) => paint('dim', line)) : []),
  ];
};

export const errorJson = (thrown: unknown, nowMs: number, debug: boolean): string => {
  const error = asEtlError(thrown);
  const { code, message, hint, details, run } = error;
  return visibleJson({
    type: 'error',
    time: new Date(nowMs).toISOString(),
    run,
    code,
    message,
    hint,
    details,
    ...(debug && { debug: debugLines(error) }),
  });
};
