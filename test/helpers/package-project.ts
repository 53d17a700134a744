// Empty projects into which the packed package is installed, and commands that run there under a Node of their own.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { platformName } from '../../src/db/embedded/server.ts';

export interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

interface Where {
  readonly cwd: string;
  /** Directory of the `node` that is to run, programs of npm included. Default: this process's. */
  readonly nodeDirectory?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** How to reach the registry stays; what an npm around us says of this checkout, and servers that it names, do not. */
const isForeign = (name: string): boolean =>
  /^(?:npm_(?!config_(?:registry|userconfig|globalconfig|cache|cafile|https?_proxy|proxy|noproxy)$)|NODE_OPTIONS$|VITEST|ETL_|PG|DATABASE_URL$)/.test(
    name,
  );

const environment = ({ nodeDirectory, env }: Where): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !isForeign(name));
  const path = [...(nodeDirectory === undefined ? [] : [nodeDirectory]), process.env['PATH']];
  return { ...Object.fromEntries(own), PATH: path.join(delimiter), NO_COLOR: '1', ...env };
};

/** Runs a program to its end, whatever that is. */
export const run = (program: string, args: readonly string[], where: Where): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { cwd: where.cwd, env: environment(where), maxBuffer: 2 ** 26 },
      (error, out, err) => resolve({ exit: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });

/** Runs a program that must succeed. */
export const mustRun = async (program: string, args: readonly string[], where: Where): Promise<Ended> => {
  const ended = await run(program, args, where);
  if (ended.exit !== 0)
    throw new Error(`${program} ${args.join(' ')}: exit ${ended.exit}\n${ended.out}${ended.err}`);
  return ended;
};

/** A directory that the embedded server's user can enter, too. */
export const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-project-'));
  await chmod(directory, 0o755);
  return directory;
};

/** Installs a Node from npm, and returns the directory of its program. */
export const installNode = async (directory: string, version: string): Promise<string> => {
  // The package `node` fetches its program with an install script, which npm may refuse; this is what it fetches.
  const name = `node-${platformName().replace('windows', 'win')}`;
  await mustRun('npm', ['install', '--no-save', '--prefix', directory, `${name}@${version}`], {
    cwd: directory,
  });
  return join(directory, 'node_modules', name, 'bin');
};
