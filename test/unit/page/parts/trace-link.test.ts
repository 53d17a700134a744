// Which addresses of traces are accepted.

import { expect, it } from 'vitest';
import { createPage } from '../../../../src/index.ts';
import { readTraceUrl } from '../../../../src/page/parts/trace-link.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

it.each([
  ['https://tempo.example/trace/{traceId}', `https://tempo.example/trace/${traceId}`],
  ['http://127.0.0.1:16686/trace/{traceId}?uiEmbed=v0', `http://127.0.0.1:16686/trace/${traceId}?uiEmbed=v0`],
  ['https://g.example/?q={"id":"{traceId}"}', `https://g.example/?q={%22id%22:%22${traceId}%22}`],
])('%s leads to %s', (template, address) => expect(readTraceUrl(template)?.(traceId)).toBe(address));

it('a number that is none of OpenTelemetry changes nothing but its own place', () => {
  const link = readTraceUrl('https://tempo.example/trace/{traceId}')!;
  expect(link(`../../"><script>`)).toBe('https://tempo.example/trace/..%2F..%2F%22%3E%3Cscript%3E');
});

it.each([
  ['javascript:alert("{traceId}")', 'does not begin with http:// or https://'],
  ['data:text/html,{traceId}', 'does not begin with http:// or https://'],
  ['/trace/{traceId}', 'is not a URL'],
  ['https://tempo.example/trace/', 'has no {traceId}'],
  ['https://ann:secret@tempo.example/{traceId}', 'has a password, which every visitor would see'],
])('%s is refused when the page is made', (traceUrl, problem) => {
  expect(() => createPage({ traceUrl })).toThrow(`the address of traces ${problem}`);
});
