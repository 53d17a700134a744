// The scripts of `etl completion` in a bash without bash-completion, and in zsh if installed.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from './fake-io.ts';

const { directory, write } = useFiles();

// A program `etl` that records its arguments and prints the answer that the test has written.
chmodSync(write('bin/etl', `#!/bin/sh\nprintf '%s\\n' "$@" > asked\ncat answer\n`), 0o755);
beforeEach(() => rmSync(join(directory, 'asked'), { force: true }));

/** zsh's completion functions are replaced by stubs that print their arguments. */
const pressInZsh = async (typed: readonly string[], answer: string): Promise<string[]> => {
  const io = fakeIo();
  expect(await main(['completion', 'zsh'], io)).toBe(0);
  write('script', io.stdout.text);
  write('answer', answer);
  const commands = `
    compdef() { : }; compset() { print -r -- compset $* }
    _describe() { print -rl -- \${(P)2} "<\${(@)^argv[3,-1]}>" }
    source ./script; words=(etl "$@"); CURRENT=$#words; PREFIX=$words[-1]
    _etl`;
  const env = { PATH: `${join(directory, 'bin')}:/usr/bin:/bin` };
  const said = execFileSync('zsh', ['-f', '-c', `exec 2>&1; ${commands}`, 'zsh', ...typed], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  return said.split('\n').filter(Boolean);
};

/** Presses tab in bash at the end of a line. Returns its offers and the arguments of `etl`. */
const press = async (line: string, answer: string): Promise<{ offers: string[]; asked: string[] }> => {
  const io = fakeIo();
  expect(await main(['completion', 'bash'], io)).toBe(0);
  write('script', io.stdout.text);
  write('answer', answer);
  const commands = `
    compopt() { echo "compopt $*"; }
    source ./script; source ./script
    COMP_LINE=$1; COMP_POINT=\${#1}
    $(complete -p etl | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shell = ['--norc', '--noprofile', '-c', `exec 2>&1; ${commands}`, 'bash', line];
  const env = { PATH: `${join(directory, 'bin')}:/usr/bin:/bin` };
  const said = execFileSync('bash', shell, { cwd: directory, env, encoding: 'utf8' });
  const asked = readFileSync(join(directory, 'asked'), 'utf8');
  return { offers: said.split('\n').filter(Boolean), asked: asked.split('\n').slice(0, -1) };
};

const cases: [name: string, line: string, answer: string, asked: string[], offers: string[]][] = [
  ['commands', 'etl st', 'status\tthe newest runs\n:4\n', ['complete', 'blanks', '--', 'st'], ['status']],
  [
    'a new word',
    'etl db ',
    'start\t\nstop\t\n:4\n',
    ['complete', 'blanks', '--', 'db', ''],
    ['start', 'stop'],
  ],
  [
    'a folder, after which no blank comes',
    'etl run pip',
    'pipelines/\t\n:6\n',
    ['complete', 'blanks', '--', 'run', 'pip'],
    ['compopt -o nospace', 'pipelines/'],
  ],
  [
    'the value of a flag after =',
    'etl run --progress=b',
    'bar\t\n:4\n',
    ['complete', 'blanks', '--', 'run', '--progress=b'],
    ['bar'],
  ],
  [
    'a file after a colon, of which bash holds the end only',
    'etl run a:b/c',
    'a:b/cd.ts\t\n:4\n',
    ['complete', 'blanks', '--', 'run', 'a:b/c'],
    ['b/cd.ts'],
  ],
  [
    'a file with blanks in its name',
    String.raw`etl run my\ dir/a\ `,
    'my dir/a b.ts\t\nmy dir/a c/\t\n:4\n',
    ['complete', 'blanks', '--', 'run', 'my dir/a '],
    [String.raw`my\ dir/a\ b.ts`, String.raw`my\ dir/a\ c/`],
  ],
  [
    'nothing, for want of anything',
    'etl run nowhere/',
    ':4\n',
    ['complete', 'blanks', '--', 'run', 'nowhere/'],
    [],
  ],
  [
    'what is typed is never run',
    'etl run $(touch${IFS}made)',
    ':4\n',
    ['complete', 'blanks', '--', 'run', '$(touch${IFS}made)'],
    [],
  ],
];

it.each(cases)('the script, read twice, offers %s', async (_, line, answer, asked, offers) => {
  expect(await press(line, answer)).toEqual({ offers, asked });
});

const hasZsh = process.env['CI'] !== undefined || spawnSync('zsh', ['--version']).status === 0;

describe.runIf(hasZsh)('in zsh', () => {
  it.each([
    ['a command', ['st'], 'status\tthe: newest\n:4\n', ['status:the\\: newest']],
    ['a folder', ['run', 'pip'], 'pipelines/\t\n:6\n', ['pipelines/:', '<-S>', '<>']],
    ['a colon', ['run', 'a:'], 'a:b.ts\t\n:4\n', ['a\\:b.ts:']],
    ['a value', ['--progress=b'], 'bar\t\n:4\n', ['compset -P *=', 'bar:']],
  ])('%s is offered', async (_, typed, answer, offers) => {
    expect(await pressInZsh(typed, answer)).toEqual(offers);
  });

  it.each(['$(touch made)', '--x$(touch made)=', '`touch made`', ';touch made'])(
    '%s is asked as it was typed, and never run',
    async (typed) => {
      await pressInZsh(['run', typed], ':4\n');
      expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe(`complete\n--\nrun\n${typed}\n`);
      expect(existsSync(join(directory, 'made'))).toBe(false);
    },
  );
});
