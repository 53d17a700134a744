// Links to traces, made from a URL template with a placeholder for the trace id.

import { EtlError } from '../../core/errors/errors.ts';

export type TraceLink = (traceId: string) => string;

const placeholder = '{traceId}';
const exampleId = '0123456789abcdef0123456789abcdef';

const problemOf = (template: string): string | undefined => {
  if (!template.includes(placeholder)) return `has no ${placeholder}`;
  const filled = template.replaceAll(placeholder, exampleId);
  if (!URL.canParse(filled)) return 'is not a URL';
  const { protocol, username, password } = new URL(filled);
  // Links with other schemes could run scripts or start programs.
  if (protocol !== 'http:' && protocol !== 'https:') return 'does not begin with http:// or https://';
  if (username !== '' || password !== '') return 'has a password, which every visitor would see';
  return undefined;
};

/** Errors: ETL_USAGE. */
export const readTraceUrl = (template: string | undefined): TraceLink | undefined => {
  if (template === undefined) return undefined;
  const problem = problemOf(template);
  if (problem !== undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `the address of traces ${problem}`,
      hint: `Give an address such as 'https://tempo.example/trace/${placeholder}'.`,
    });
  return (traceId) => new URL(template.replaceAll(placeholder, encodeURIComponent(traceId))).href;
};
