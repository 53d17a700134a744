// Characters of data that could forge lines, control a terminal or reverse text are escaped.

import { describe, expect, it } from 'vitest';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { asList, inQuotes, onOneLine, visibleJson } from '../../../../src/core/wording.ts';
import { errorJson, errorLines } from '../../../../src/cli/text/print-error.ts';
import { slackChannel } from '../../../../src/report/notify/slack.ts';
import { html } from '../../../../src/page/parts/html.ts';

const hidden = [
  ['\0', '\b', '\n', '\r', '\t', '\u001b[2J', '\u007f', '\u0085', '\u009b2J', '\u009f', '\u00ad'],
  ['\u061c', '\u200b', '\u200e', '\u2028', '\u2029', '\u202a', '\u202e', '\u2066', '\u2069', '\ufeff'],
  ['\ud800', '\u{e0001}'],
].flat();
// oxlint-disable-next-line no-control-regex -- what must not be there
const seen = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;
const noColour = (_: string, text: string): string => text;
const file = `a.csv\n  forged hint\nerror ETL_FORGED: ${hidden.join('x')}`;

describe('an error', () => {
  const cause = Object.assign(new Error(`no "${file}"\n    at forged (${file})`), { detail: file });
  const error = new EtlError('ETL_SOURCE_UNREADABLE', { table: 't', file, problem: file }, { cause });

  it('is one line, whatever its details hold', () => {
    const lines = errorLines(error, noColour, false);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(seen);
  });

  it('with --debug shows causes on lines of their own, and only real frames', () => {
    const lines = errorLines(error, noColour, true);
    for (const line of lines) expect(line).toMatch(seen);
    expect(lines.filter((line) => /^(?:error ETL_FORGED| {2}forged| {4}at forged)/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('    at ')).length).toBeGreaterThan(2);
  });

  it('as JSON has nothing hidden in it, and the same values', () => {
    const json = errorJson(error, 0, true);
    expect(json).toMatch(seen);
    expect((JSON.parse(json) as { details: { file: string } }).details.file).toBe(file);
  });

  it('keeps the lines of a list, each of them one line', () => {
    const listed = new EtlError('ETL_DEFINITION', { pipeline: 'p', problems: asList(['first', file]) });
    expect(listed.message.split('\n')).toHaveLength(3);
  });
});

it.each(hidden.map((text) => [JSON.stringify(text), text]))(
  '%s is seen on one line, in quotes, in JSON and on the page',
  async (_, text) => {
    const all = [onOneLine(text), inQuotes(text), visibleJson({ text })];
    for (const one of all) expect(one).toMatch(seen);
    expect(JSON.parse(visibleJson({ text }))).toEqual({ text });
    const isText = text === '\n' || text === '\t';
    const page = String(await html`<p title="${text}">${[text]}</p>`);
    expect(seen.test(page.replaceAll('\t', ''))).toBe(true);
    expect(page.includes(text)).toBe(isText);
    // Form values are not changed, because the form sends them back.
    expect(String(await html`<input value="${text}" />`)).toContain(text);
  },
);

it('a message in a chat has a line for each table', () => {
  const reject = { table: 't', column: null, code: 'x', records: 1, file, line: 1 };
  const data = {
    pipeline: 'p',
    run: 1,
    tables: [],
    rejects: [reject],
    error: null,
    schedule: null,
    rolledBackTo: null,
  };
  const notification = { type: 'rejects', data };
  const { body } = slackChannel.request({ notification } as never);
  expect((JSON.parse(body) as { text: string }).text.split('\n')).toHaveLength(2);
});
