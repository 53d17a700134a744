// Compares every cell of files with the table that a pipeline of `etl init` makes of them: equal, or a line of the report that begins
// with ! names the column. The files are read by csv-parse, and values are written back by what the pipeline declares.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type Options } from 'csv-parse/sync';
import { main } from '../../src/cli/main.ts';
import { loadPipelineFile, runPipeline, verifyPipeline } from '../../src/index.ts';
import { columnNames } from '../../src/tools/init/header.ts';
import { initText, readForInit, type InitDraft } from '../../src/tools/init/write-init.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import type { TestDatabase } from './server.ts';

type Spelled = Readonly<Record<string, unknown>>;

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** What the format makes of a date or time that the server wrote. */
const inFormat = (text: string, format: string): string => {
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', decimals = ''] =
    /^(?:(\d+)-(\d\d)-(\d\d) ?)?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?/.exec(text) ?? [];
  const twelve = String(Number(hour) % 12 || 12);
  const written: Readonly<Record<string, string>> = {
    YYYY: year,
    YY: year.slice(2),
    MMM: months[Number(month) - 1] ?? '',
    MM: month,
    M: String(Number(month)),
    DD: day,
    D: String(Number(day)),
    HH: hour,
    H: String(Number(hour)),
    hh: twelve.padStart(2, '0'),
    h: twelve,
    mm: minute,
    ss: second,
    A: Number(hour) < 12 ? 'AM' : 'PM',
    Z: 'Z',
  };
  return format.replace(/YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|A|Z|S+/g, (token) =>
    token.startsWith('S') ? decimals.padEnd(9, '0').slice(0, token.length) : written[token]!,
  );
};

const inGroups = (text: string, { thousands = '', decimal = '.', grouping }: Spelled): string => {
  const [whole = '', fraction] = text.split('.');
  let left = whole.replace('-', '');
  const groups = left.length > 3 ? [left.slice(-3)] : [];
  left = left.slice(0, groups.length === 0 ? left.length : -3);
  const size = grouping === 'indian' ? 2 : 3;
  for (; left.length > size; left = left.slice(0, -size)) groups.unshift(left.slice(-size));
  const sign = whole.startsWith('-') ? '-' : '';
  const joined = sign + [left, ...groups].filter((one) => one !== '').join(String(thousands));
  return fraction === undefined ? joined : `${joined}${String(decimal)}${fraction}`;
};

/** Writes a value, as text from the server, as the declaration says that files write it. */
const rendered = (text: string | null, type: string, options: Spelled): string => {
  if (text === null) return '';
  if (type === 'boolean') {
    const words = options[text] as readonly string[] | undefined;
    return words?.[0] ?? text;
  }
  if (typeof options['format'] === 'string') return inFormat(text, options['format']);
  return 'thousands' in options || 'decimal' in options ? inGroups(text, options) : text;
};

export interface Compared {
  readonly tables: number;
  readonly cells: number;
  readonly lines: readonly string[];
  readonly questions: number;
  /** Columns of which a cell differs, and no line that begins with ! says so, or of which etl verify finds other losses. */
  readonly silent: readonly string[];
}

const cellsOf = (path: string, { dialect }: InitDraft['tables'][number]): readonly string[][] => {
  const options: Options = {
    bom: true,
    delimiter: dialect.delimiter,
    quote: dialect.quote ?? false,
    trim: false,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    ...(dialect.comment === null ? {} : { comment: dialect.comment }),
    from_line: dialect.skipLines + 1,
  };
  const all: string[][] = parse(readFileSync(path), options);
  return dialect.header === true ? all.slice(1) : all;
};

let calls = 0;

/** Loads the files, each with a header of its own, and compares each column with its table. */
export const compareCells = async (
  locations: readonly string[],
  directory: string,
  database: TestDatabase,
): Promise<Compared> => {
  const workingDirectory = process.cwd();
  const io = fakeIo({ workingDirectory, env: { NO_COLOR: '1' } });
  // Node.js keeps the module of a path.
  const schema = `cells${(calls += 1)}`;
  const out = join(directory, `${schema}.ts`);
  const exit = await main(['init', ...locations, '--yes', '--force', '--out', out], io);
  if (exit !== 0) throw new Error(io.stderr.text);
  const lines = io.stdout.text.split('\n').filter((line) => line.startsWith('! '));
  const draft = await readForInit({ locations, workingDirectory });
  const expected = await initText(draft, schema, out);
  if (!readFileSync(out, 'utf8').includes(expected.split('\n').slice(12, -3).join('\n')))
    throw new Error('etl init wrote another pipeline');
  const { pipeline } = await loadPipelineFile(out);
  const settings = { databaseUrl: database.url, directory: workingDirectory };
  await runPipeline(pipeline, { ...settings, workers: 1 });
  const verified = new Map(
    (await verifyPipeline(pipeline, settings)).tables.map((one) => [one.table, one] as const),
  );
  await database.query("set timezone = 'UTC'");
  const silent: string[] = [];
  let cells = 0;
  for (const table of draft.tables) {
    const names = columnNames(table.header);
    // A field that has no name and no value is left out.
    const isKept = (index: number): boolean =>
      table.header[index] !== '' || table.dialect.header === false || table.decisions[index]!.values > 0;
    const list = names.map((name, index) => (isKept(index) ? `"${name}"::text` : "''")).join(', ');
    const { rows } = await database.query<{ row: (string | null)[] }>(
      `select array[${list}] as row from ${schema}."${table.name}"`,
    );
    const records = cellsOf(table.locations[0]!.path, table);
    if (rows.length !== records.length)
      silent.push(`${table.name}: ${rows.length} of ${records.length} records`);
    for (const [index, header] of table.header.entries()) {
      const { type, options } = table.decisions[index]!;
      // Rows of several chunks are in any order.
      const left = new Map<string, number>();
      for (const { row } of rows) {
        const text = rendered(row[index] ?? null, type, options);
        left.set(text, (left.get(text) ?? 0) + 1);
      }
      const differs = records.find(({ [index]: cell = '' }) => {
        const count = left.get(cell) ?? 0;
        left.set(cell, count - 1);
        return count <= 0;
      });
      cells += records.length;
      const isSaid = lines.some((line) =>
        line.startsWith(`! ${table.name}, ${header || `field ${index + 1}`}:`),
      );
      const { losses, files: counted } = verified.get(table.name)!;
      const isFound = losses.some(({ column }) => column === names[index]);
      // A repeated header is filtered, and verify cannot read some dialects.
      const isVerified = counted.length > 0 && table.repeats === 0;
      if (isVerified && isFound ? !isSaid : differs !== undefined && isVerified && !isFound)
        silent.push(`${table.name}, ${header}: etl verify finds ${isFound ? 'more' : 'less'}`);
      if (differs !== undefined && !isSaid)
        silent.push(
          `${table.name}, ${header}: ${JSON.stringify(differs[index])} in ${type} ${JSON.stringify(options)}`,
        );
    }
  }
  const questions = draft.tables
    .flatMap(({ decisions }) => decisions)
    .filter(({ alternatives }) => alternatives.length > 0).length;
  return { tables: draft.tables.length, cells, lines, questions, silent };
};
