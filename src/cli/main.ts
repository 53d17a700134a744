// Entry point: reads .env, runs one command, reports its error and returns the exit code.

import { CommanderError, type Command } from 'commander';
import { asEtlError, EtlError, exitCodes, codeOf, messageOf } from '../core/errors/errors.ts';
import { programName } from './called.ts';
import { EndWith } from './command.ts';
import { commands } from './commands/table.ts';
import { parseBoolean } from './parsers.ts';
import { processIo, widthOf, type Io } from './io.ts';
import { wrapUnder } from './layout.ts';
import { paintFor } from './paint.ts';
import { errorJson, errorLines, exitOf } from './text/print-error.ts';
import { createProgram } from './program.ts';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { plantedAt } from '../core/ownership.ts';

const usage = (problem: string, hint: string, cause?: unknown): EtlError =>
  new EtlError('ETL_USAGE', { problem, hint }, { cause });

/** Opens the file before checking its owner, so that another user cannot replace it in between. */
const read = (file: string): string => {
  const fd = openSync(file, 'r');
  try {
    const planted = plantedAt(file);
    if (planted === undefined) return readFileSync(fd, 'utf8');
    const problem = `${planted} belongs to another user, whose .env would choose the server`;
    throw usage(problem, 'Work in a directory of your own, or move the file away.');
  } finally {
    closeSync(fd);
  }
};

const readIfPresent = (file: string): string => {
  try {
    return read(file);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return '';
    if (cause instanceof EtlError) throw cause;
    throw usage(`cannot read ${file}: ${messageOf(cause)}`, 'Make it readable, or move it away.', cause);
  }
};

/** Adds missing variables from .env. ETL_USAGE: it is unreadable, or maybe of another user. */
const addDotEnv = (env: NodeJS.ProcessEnv, workingDirectory: string): void => {
  for (const [name, value] of Object.entries(parseEnv(readIfPresent(join(workingDirectory, '.env')))))
    env[name] ??= value;
};

const isOn = (value: string | undefined): boolean => {
  const parsed = parseBoolean(value ?? '');
  return 'value' in parsed && parsed.value;
};

/** Finds a flag without a parser, because errors are reported even if the arguments are invalid. */
const isSet = (name: 'debug' | 'json', args: readonly string[], io: Io): boolean =>
  args.includes(`--${name}`) || isOn(io.env[`ETL_${name.toUpperCase()}`]);

const report = (thrown: unknown, args: readonly string[], io: Io): number => {
  const error = asEtlError(thrown);
  const debug = isSet('debug', args, io);
  if (isSet('json', args, io)) io.stdout.write(`${errorJson(error, io.clock(), debug)}\n`);
  const lines = errorLines(error, paintFor(io.stderr, io.env), debug).flatMap((line) =>
    wrapUnder(line, widthOf(io.stderr), 2),
  );
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
  return exitOf(error);
};

/** Turns `help unknown` into `unknown`, because commander would report no error. */
const withoutHelpOfUnknown = (args: readonly string[]): readonly string[] => {
  const isKnown =
    args[1] === undefined || args[1] === 'help' || commands.some(({ name }) => name === args[1]);
  return args[0] === 'help' && !isKnown ? args.slice(1) : args;
};

const commandReached = (program: Command, args: readonly string[]): Command => {
  let command = program;
  for (const argument of args) {
    const next = command.commands.find((candidate) => candidate.name() === argument);
    if (next) command = next;
    else if (!argument.startsWith('-')) break;
  }
  return command;
};

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** Commander's messages are `error: problem`, sometimes with a second line `(Did you mean …?)`. */
const usageError = (cause: CommanderError, program: Command, args: readonly string[]): EtlError => {
  const [problem = '', suggestion] = cause.message.replace(/^error: /, '').split('\n');
  const help = `\`${pathOf(commandReached(program, args))} --help\` shows the usage.`;
  const hint = suggestion ? `${suggestion.replace(/^\(|\)$/g, '')} ${help}` : help;
  return new EtlError('ETL_USAGE', { problem, hint }, { cause });
};

const runCommand = async (args: readonly string[], io: Io): Promise<number> => {
  const program = createProgram(commands, io);
  try {
    await program.parseAsync(withoutHelpOfUnknown(args), { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof EndWith) return error.exit;
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    // Commander printed the help because no command was given.
    if (error.code === 'commander.help') return exitCodes.usage;
    throw usageError(error, program, args);
  }
};

/** Returns the title that `ps` shows to every user. It has no flags, which may hold passwords. */
export const processTitle = (args: readonly string[]): string => {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'));
  return [programName(), ...args.slice(0, firstFlag === -1 ? args.length : firstFlag)].join(' ');
};

export const main = async (args: readonly string[], io: Io = processIo()): Promise<number> => {
  try {
    if (args[0] === 'complete') {
      const { complete } = await import('./complete.ts');
      complete(args.slice(1), io);
      return exitCodes.done;
    }
    addDotEnv(io.env, io.workingDirectory);
    return await runCommand(args, io);
  } catch (error) {
    return report(error, args, io);
  }
};
