// Shows what was found: as text while experiments run, and as the generated blocks of docs/experiments/results.md.

import { ratio, sideCells } from './amounts.ts';
import type { Result } from './contract.ts';
import type { Check } from './lab.ts';
import { experiments } from './registry.ts';
import type { Recorded } from './results.ts';

const titles = ['', 'published', 'measured', 'rows/s', 'log'];
const ratioTitles = ['ratio', 'published', 'measured'];

const sideRows = ({ sides }: Result): readonly (readonly string[])[] =>
  sides.map((side) => [side.name, side.published ?? '–', ...sideCells(side)]);

const ratioRows = ({ ratios }: Result): readonly (readonly string[])[] =>
  ratios.map(({ name, published, measured }) => [
    name,
    published === undefined ? '–' : ratio(published),
    ratio(measured),
  ]);

const signs: Readonly<Record<Check['outcome'], string>> = {
  holds: 'holds',
  fails: 'FAILS',
  skipped: 'skipped',
};

const textTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .join('\n');
};

const experimentOf = (number: number) => experiments.find((one) => one.number === number)!;

/** An experiment for the terminal. */
export const resultText = (result: Result): string => {
  const { title, source } = experimentOf(result.number);
  return [
    `\n${result.number}. ${title}`,
    `  published: ${source}`,
    `  here: ${result.done}`,
    textTable([titles, ...sideRows(result)]),
    textTable([ratioTitles, ...ratioRows(result)]),
    ...result.checks.map(({ what, outcome, found }) => `  ${signs[outcome]}: ${what} (${found})`),
  ].join('\n');
};

const markdownTable = ([head, ...rows]: readonly (readonly string[])[]): string =>
  [head!, head!.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

const checksTable = (checks: readonly Check[]): string =>
  ['| Checked | | Found |', '|---|---|---|']
    .concat(checks.map(({ what, outcome, found }) => `| ${what} | ${signs[outcome]} | ${found} |`))
    .join('\n');

const resultBlock = (result: Recorded): string => {
  const { conditions } = result;
  return [
    `Published: ${experimentOf(result.number).source}. Here: ${result.done}; medians of ${conditions.rounds}, ${conditions.date}, load average ${conditions.load} before it.`,
    markdownTable([titles, ...sideRows(result)]),
    markdownTable([ratioTitles, ...ratioRows(result)]),
    checksTable(result.checks),
  ].join('\n\n');
};

const machineBlock = (results: readonly Recorded[]): string => {
  const [{ conditions }] = results as readonly [Recorded];
  const settings = Object.entries(conditions.settings).map(([name, value]) => `\`${name} = ${value}\``);
  return `${conditions.cores} cores of ${conditions.cpu}, ${conditions.memoryGigabytes} GB of memory, Node ${conditions.node}, PostgreSQL ${conditions.postgres} (${conditions.server}), with ${settings.join(', ')}.`;
};

/** What everything was compared by: ratios that somebody published. */
const summaryBlock = (results: readonly Recorded[]): string =>
  markdownTable([
    ['', 'published', 'measured'],
    ...results.flatMap(({ number, ratios }) =>
      ratios
        .filter(({ published }) => published !== undefined)
        .map(({ name, published, measured }) => [`${number}. ${name}`, ratio(published!), ratio(measured)]),
    ),
  ]);

const fillIn = (page: string, name: string, content: string): string => {
  const block = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- end -->`);
  if (!block.test(page)) throw new Error(`the page has no block <!-- ${name} -->`);
  return page.replace(block, () => `<!-- ${name} -->\n\n${content}\n\n<!-- end -->`);
};

/** The page with its blocks made of these results; the rest of it stays. */
export const pageOf = (page: string, results: readonly Recorded[]): string => {
  const blocks: readonly (readonly [string, string])[] = [
    ['machine', machineBlock(results)],
    ['summary', summaryBlock(results)],
    ...results.map((result) => [`experiment ${result.number}`, resultBlock(result)] as const),
  ];
  return blocks.reduce((text, [name, content]) => fillIn(text, name, content), page);
};
