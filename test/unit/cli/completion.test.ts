// Tab completion: the scripts, and the answers that they get.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from './fake-io.ts';
import { words } from '../../helpers/words.ts';

const { directory } = useFiles();
mkdirSync(join(directory, 'pipelines'));
writeFileSync(join(directory, 'pipelines', 'noaa.ts'), '');
for (const other of ['notes.md', 'noaa.d.ts']) writeFileSync(join(directory, 'pipelines', other), '');

// File names that a shell would run, expand, or split, or take for a flag.
const hostile = [
  ['$(touch made)', '`touch made`', ';touch made;', "'$(touch made)", '"$(touch made)', '&touch made&'],
  [
    '|touch made',
    '>made',
    ' touch made',
    '\n:0',
    '\tmade',
    '\u001b]0;made\u0007',
    '{made,made}',
    '*',
    '?',
    '[a]',
  ],
  ['~', '!made', '^made', '#made', '\\made', '%made', '\u202emade', '\ue000', '$made'],
]
  .flat()
  .map((text) => `evil${text}`);
const evil = useFiles();
mkdirSync(join(evil.directory, 'more'));
for (const name of [...hostile, ...words('--debug -x ~root =made #made @made good-one_1 данные.v2')])
  for (const folder of ['.', 'more']) evil.write(join(folder, `${name}.ts`), '');
for (const name of [...hostile, '--debug']) mkdirSync(join(evil.directory, name));

const byCode = (one = '', other = ''): number => (one < other ? -1 : 1);

const printed: string[] = [];
beforeEach(() => {
  printed.length = 0;
  vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
});
afterEach(() => vi.restoreAllMocks());

const cases = [
  ['commands', ['st'], ['status']],
  ['commands of commands', ['db', 's'], ['status', 'stop']],
  ['flags', ['run', '--full'], ['--full-refresh']],
  ['choices of a flag', ['run', '--progress', 'b'], ['bar']],
  ['folders', ['run', 'pipe'], ['pipelines/']],
  ['pipeline files, and no other files', ['run', 'pipelines/'], ['pipelines/noaa.ts']],
  ['pipeline files to enqueue', ['enqueue', 'pipelines/n'], ['pipelines/noaa.ts']],
  ['pipeline files to schedule', ['schedule', 'set', 'nightly', 'pipelines/'], ['pipelines/noaa.ts']],
  ['folders, and pipelines by name, before anything is typed', ['run', ''], ['pipelines/', 'noaa']],
  ['pipelines by name', ['enqueue', 'no'], ['noaa']],
  ['nothing in a folder that does not exist', ['run', 'nowhere/'], []],
  ['shells', ['completion', 'z'], ['zsh']],
];

it.each(cases)('etl complete offers %s', async (_, typed, offers) => {
  expect(await main(['complete', '--', ...typed], fakeIo({ workingDirectory: directory }))).toBe(0);
  expect(printed.slice(0, -1).map((line) => line.split('\t')[0])).toEqual(offers);
});

it('offers only what every shell reads as one word', async () => {
  const offersOf = async (typed: string, ...how: string[]) => {
    printed.length = 0;
    await main(['complete', ...how, '--', 'run', typed], fakeIo({ workingDirectory: evil.directory }));
    return printed.map((line) => line.split('\t')[0]);
  };
  expect((await offersOf('')).toSorted(byCode)).toEqual([':4', 'good-one_1.ts', 'more/', 'данные.v2.ts']);
  expect(await offersOf('evil')).toEqual([':4']);
  // `blanks`: the script quotes blanks itself.
  expect((await offersOf('evil', 'blanks')).toSorted(byCode)).toEqual([
    ':4',
    'evil touch made.ts',
    'evil touch made/',
  ]);
  // Below a folder, a name that begins with a hyphen is not taken for a flag.
  expect((await offersOf('more/')).toSorted(byCode)).toEqual([
    ':4',
    ...['--debug', '-x', '=made', '@made', 'good-one_1', 'данные.v2'].map((name) => `more/${name}.ts`),
  ]);
});

it.each([
  { name: 'that a folder goes on', typed: ['run', 'pipe'], directive: ':6' },
  { name: 'that a file does not', typed: ['run', 'pipelines/'], directive: ':4' },
  { name: 'that a command does not', typed: ['st'], directive: ':4' },
  { name: 'nothing of nothing', typed: ['run', 'nowhere/'], directive: ':4' },
])('the last line directs the shell $name', async ({ typed, directive }) => {
  await main(['complete', '--', ...typed], fakeIo({ workingDirectory: directory }));
  expect(printed.at(-1)).toBe(directive);
});

describe('etl completion prints a script that asks `etl complete`', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('for %s', async (shell) => {
    const io = fakeIo();
    expect(await main(['completion', shell], io)).toBe(0);
    expect([io.stdout.text, ...printed].join('\n')).toMatch(/etl complete|'complete', '--'|complete --/);
  });
});
