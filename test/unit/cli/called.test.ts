// The name by which the program was called, in what it prints.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { asCalled, programName } from '../../../src/cli/called.ts';
import { commands } from '../../../src/cli/commands/table.ts';
import { main } from '../../../src/cli/main.ts';
import { embeddedLines } from '../../../src/cli/text/summary.ts';
import { fakeIo } from './fake-io.ts';

const own = process.argv[1]!;
beforeEach(() => {
  process.argv[1] = '/project/node_modules/.bin/sluice';
});
afterEach(() => {
  process.argv[1] = own;
  vi.restoreAllMocks();
});

it.each([
  ['/project/node_modules/.bin/sluice', 'sluice'],
  ['/project/node_modules/sluice/src/cli/sluice.mjs', 'sluice'],
  ['/project/node_modules/sluice/src/cli/etl.mjs', 'etl'],
  ['/project/node_modules/.bin/etl', 'etl'],
  ['/project/service.js', 'etl'],
])('%s is %s', (path, name) => {
  process.argv[1] = path;
  expect(programName()).toBe(name);
});

it.each([
  ['  $ etl run pipelines/noaa.ts', '  $ sluice run pipelines/noaa.ts'],
  ['`etl status 3` shows the run.', '`sluice status 3` shows the run.'],
  ['psql "$(npx etl db url)"', 'psql "$(npx sluice db url)"'],
  ['psql "$(etl db url)"', 'psql "$(sluice db url)"'],
  ['  $ cat a.csv | etl load - --into t', '  $ cat a.csv | sluice load - --into t'],
  ['so `etl` must be on the PATH', 'so `sluice` must be on the PATH'],
  ['  $ etl completion zsh > ~/.zfunc/_etl', '  $ sluice completion zsh > ~/.zfunc/_sluice'],
])('what to type is said with the name: %s', (text, said) => expect(asCalled(text)).toBe(said));

it.each([
  'the bookkeeping schema etl',
  '`etl.run`',
  '/data/etl/a.csv',
  'etl_staging',
  'ETL_WORKERS',
  '.etl/',
])('other names stay: %s', (text) => expect(asCalled(text)).toBe(text));

it.each([
  { args: ['--help'], says: /^Usage: sluice <command> \[options\]\n[^]*^ {2}\$ sluice status /m },
  ...commands.map(({ name }) => ({ args: [name, '--help'], says: new RegExp(`^Usage: sluice ${name} `) })),
  { args: ['run', '--help'], says: /^Usage: sluice run \[options\] <pipeline>\n[^]*^ {2}\$ sluice run /m },
])('the help of $args names no other program', async ({ args, says }) => {
  const { stdout, ...io } = fakeIo();
  await main(args, { ...io, stdout });
  expect(stdout.text).toMatch(says);
  expect(stdout.text.replace('package called etl', '')).not.toMatch(/(?<![.\w/])etl\b(?!\.)/);
});

it('the end of a summary names no other program', () =>
  expect(embeddedLines((_, text) => text).join('\n')).toMatch(/npx sluice db url[^]*npx sluice db stop/));

it('an error of usage says which help to read', async () => {
  const { stderr, ...io } = fakeIo();
  await main(['run', '--nonsense'], { ...io, stderr });
  expect(stderr.text).toContain('`sluice run --help` shows the usage.');
});

it.each(['bash', 'zsh', 'fish', 'powershell'])(
  'the script for %s completes this name only',
  async (shell) => {
    const printed: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
    const { stdout, ...io } = fakeIo();
    await main(['completion', shell], { ...io, stdout });
    const script = [stdout.text, ...printed].join('\n');
    expect(script).toMatch(/sluice complete|'complete', '--'|complete --/);
    expect(script).not.toMatch(/\betl\b/);
  },
);
