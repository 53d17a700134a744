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

const cases = [
  {
    name: 'commands',
    line: 'etl st',
    answer: 'status\tthe newest runs\n:4\n',
    asked: ['complete', 'blanks', '--', 'st'],
    offers: ['status'],
  },
  {
    name: 'a new word',
    line: 'etl db ',
    answer: 'start\t\nstop\t\n:4\n',
    asked: ['complete', 'blanks', '--', 'db', ''],
    offers: ['start', 'stop'],
  },
  {
    name: 'a folder, after which no blank comes',
    line: 'etl run pip',
    answer: 'pipelines/\t\n:6\n',
    asked: ['complete', 'blanks', '--', 'run', 'pip'],
    offers: ['compopt -o nospace', 'pipelines/'],
  },
  {
    name: 'the value of a flag after =',
    line: 'etl run --progress=b',
    answer: 'bar\t\n:4\n',
    asked: ['complete', 'blanks', '--', 'run', '--progress=b'],
    offers: ['bar'],
  },
  {
    name: 'a file after a colon, of which bash holds the end only',
    line: 'etl run a:b/c',
    answer: 'a:b/cd.ts\t\n:4\n',
    asked: ['complete', 'blanks', '--', 'run', 'a:b/c'],
    offers: ['b/cd.ts'],
  },
  {
    name: 'a file with blanks in its name',
    line: String.raw`etl run my\ dir/a\ `,
    answer: 'my dir/a b.ts\t\nmy dir/a c/\t\n:4\n',
    asked: ['complete', 'blanks', '--', 'run', 'my dir/a '],
    offers: [String.raw`my\ dir/a\ b.ts`, String.raw`my\ dir/a\ c/`],
  },
  {
    name: 'nothing, for want of anything',
    line: 'etl run nowhere/',
    answer: ':4\n',
    asked: ['complete', 'blanks', '--', 'run', 'nowhere/'],
    offers: [],
  },
  {
    name: 'what is typed is never run',
    line: 'etl run $(touch${IFS}made)',
    answer: ':4\n',
    asked: ['complete', 'blanks', '--', 'run', '$(touch${IFS}made)'],
    offers: [],
  },
];

describe('the script, read twice, offers', () => {
  it.each(cases)('$name', async ({ line, answer, asked, offers }) => {
    expect(await press(line, answer)).toEqual({ offers, asked });
  });
});

const hasZsh = process.env['CI'] !== undefined || spawnSync('zsh', ['--version']).status === 0;

describe.runIf(hasZsh)('in zsh', () => {
  it.each([
    {
      name: 'a command',
      typed: ['st'],
      answer: 'status\tthe: newest\n:4\n',
      offers: ['status:the\\: newest'],
    },
    {
      name: 'a folder',
      typed: ['run', 'pip'],
      answer: 'pipelines/\t\n:6\n',
      offers: ['pipelines/:', '<-S>', '<>'],
    },
    { name: 'a colon', typed: ['run', 'a:'], answer: 'a:b.ts\t\n:4\n', offers: ['a\\:b.ts:'] },
    { name: 'a value', typed: ['--progress=b'], answer: 'bar\t\n:4\n', offers: ['compset -P *=', 'bar:'] },
  ])('$name is offered', async ({ typed, answer, offers }) => {
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
