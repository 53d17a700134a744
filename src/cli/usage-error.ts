// Converts errors of commander to ETL_USAGE, with a hint that names the command.

import type { Command, CommanderError } from 'commander';
import { EtlError } from '../core/errors/errors.ts';

/** Returns the deepest command that the arguments name, for example `etl rejects list`. */
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
export const usageError = (cause: CommanderError, program: Command, args: readonly string[]): EtlError => {
  const [problem = '', suggestion] = cause.message.replace(/^error: /, '').split('\n');
  const help = `\`${pathOf(commandReached(program, args))} --help\` shows the usage.`;
  const hint = suggestion ? `${suggestion.replace(/^\(|\)$/g, '')} ${help}` : help;
  return new EtlError('ETL_USAGE', { problem, hint }, { cause });
};
