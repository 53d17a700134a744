// Links to the trace of a run: a template from the host, with a placeholder for the trace id.

import { EtlError } from '../../core/errors/errors.ts';

export type TraceLink = (traceId: string) => string;

const place = '{traceId}';
/** As OpenTelemetry writes it. */
const traceNumber = '0123456789abcdef0123456789abcdef';

const problemOf = (template: string): string | undefined => {
  if (!template.includes(place)) return `has no ${place}`;
  const filled = template.replaceAll(place, traceNumber);
  if (!URL.canParse(filled)) return 'is no address';
  const { protocol, username, password } = new URL(filled);
  // Other schemes run scripts or start programs.
  if (protocol !== 'http:' && protocol !== 'https:') return 'is not of http or https';
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
      hint: `It looks like 'https://tempo.example/trace/${place}'.`,
    });
  return (traceId) => new URL(template.replaceAll(place, encodeURIComponent(traceId))).href;
};
