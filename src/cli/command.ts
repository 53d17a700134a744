// The contract of a command: one file in commands/, one line in commands/table.ts.

import type { Command } from 'commander';
import type { Io } from './io.ts';

export interface CliCommand {
  readonly name: string;
  /** Adds the command to the program. What is heavy is imported inside the action, so that `--help` stays fast. */
  register(program: Command, io: Io): void;
}
