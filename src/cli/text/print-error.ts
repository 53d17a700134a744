// How a failure looks: one red line with code, what and where; one line with what to do; the rest with --debug.

import { asEtlError, codeOf, exitCodes, messageOf, type EtlError } from '../../core/errors/errors.ts';
import { visibleJson } from '../../core/wording.ts';
import { visibleLines, visibleText } from '../layout.ts';
import type { Paint } from '../paint.ts';

/** The process's exit code for an error. */
export const exitOf = (error: EtlError): number =>
  error.code === 'ETL_INTERRUPTED' && error.details['signal'] === 'SIGTERM'
    ? exitCodes.terminated
    : error.exit;

// What PostgreSQL says beside its message, where it helps.
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

/** The frames of a stack: the message before them may have lines that look alike. */
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
  // A chain of causes this long is a circle.
  return next === undefined || depth > 10 ? lines : [...lines, ...describeCause(next, depth + 1)];
};

const debugLines = (error: EtlError): string[] => [
  ...framesOf(error).map(visibleText),
  ...(error.cause === undefined ? [] : describeCause(error.cause, 1)),
];

/** The lines that a person sees. */
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

/** The line that a program reads; `nowMs` is the time since 1970. */
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
