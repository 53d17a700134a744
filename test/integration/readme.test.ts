// The README's commands do what it shows: its pipeline, its transcript, its numbers.

import { beforeAll, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { main } from '../../src/cli/main.ts';
import type { Io } from '../../src/cli/io.ts';
import { embeddedLines } from '../../src/cli/text/summary.ts';
import { useDatabase } from '../helpers/server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

const fence = (info: string, start: string): readonly string[] => {
  const [, block = ''] = readme.split(`\`\`\`${info}\n${start}`);
  return block.split('\n```')[0]!.split('\n');
};

/** Columns of the summary that no two runs have alike. */
const varying = new Set(['seconds', 'records/s']);

/** The line with its seconds, rates, run number and the widths that follow from them masked. */
const masked = (lines: readonly string[]): readonly string[] => {
  const titles = lines.find((line) => line.startsWith('table '))?.split(/ {2,}/) ?? [];
  return lines.map((line) => {
    const cells = line.trimEnd().split(/ {2,}/);
    const shown = cells.map((cell, place) =>
      cells.length === titles.length && varying.has(titles[place]!) && cell !== titles[place] && cell !== '–'
        ? '#'
        : cell,
    );
    return shown
      .join('  ')
      .replace(/\d+(?:\.\d+)? s\b/g, '# s')
      .replace(/\brun \d+/, 'run #');
  });
};

const database = useDatabase();

const runEtl = async (...args: string[]): Promise<{ exit: number; stdout: string; stderr: string }> => {
  const written = { stdout: '', stderr: '' };
  const io: Io = {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    env: { DATABASE_URL: database.url },
    workingDirectory: root,
    clock: Date.now,
  };
  return { exit: await main(args, io), ...written };
};

let first: Awaited<ReturnType<typeof runEtl>>;
beforeAll(async () => {
  first = await runEtl('run', 'pipelines/noaa.ts');
});

it('the transcript is what the command prints, but for times, rates and the number of the run', async () => {
  const shown = fence('text', '$ npm ci && npx etl run pipelines/noaa.ts\n');
  const { exit, stdout, stderr } = first;
  expect({ exit, stderr: stderr.includes('error') }).toEqual({ exit: 0, stderr: false });
  // The README's run had no server named; the lines about the embedded one come after the same summary.
  const printed = [...stdout.trimEnd().split('\n'), '', ...embeddedLines((_, text) => text)];
  expect(masked(printed)).toEqual(masked(shown));
});

it('the numbers below the transcript are those of the tables', async () => {
  const { rows } = await database.query(
    `select count(*)::int as n, count(dry_bulb_c)::int as c, sum(dry_bulb_c::numeric)::text from noaa.observation`,
  );
  const { n, c, sum } = rows[0]!;
  const count = (value: number): string => value.toLocaleString('en');
  const prose = readme.replaceAll(/\s+/g, ' ');
  expect(prose).toContain(
    `Of the ${count(n)} observations, ${count(c)} have a temperature, and \`sum(dry_bulb_c::numeric)\` is ${sum}.`,
  );
});

it('a second run finds nothing to do', async () => {
  const { exit, stdout } = await runEtl('run', 'pipelines/noaa.ts');
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^Nothing to do: /);
});

it('the pipeline that it shows is an excerpt of the one that it runs', () => {
  const pipeline = readFileSync(new URL('../../pipelines/noaa.ts', import.meta.url), 'utf8');
  const lines = new Set(pipeline.split('\n').map((line) => line.trim()));
  const shown = fence('ts', 'import { column, csv, definePipeline').slice(1);
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.map((line) => line.trim()).filter((line) => line !== '' && !lines.has(line))).toEqual([]);
});
