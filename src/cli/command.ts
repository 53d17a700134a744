// The contract of a command: one file in commands/, one line in commands/table.ts.

import type { Command } from 'commander';
import type { Io } from './io.ts';

/** Thrown by a command that has said everything, to end the program with this exit code. */
export class EndWith extends Error {
  readonly exit: number;

  constructor(exit: number) {
    super(`exit code ${exit}`);
    this.exit = exit;
  }
}

export interface CliCommand {
  readonly name: string;
  /** Adds the command to the program. What is heavy is imported inside the action, so that `--help` stays fast. */
  register(program: Command, io: Io): void;
}
