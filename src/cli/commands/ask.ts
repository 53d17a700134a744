// Which run's rejects a command of `etl rejects` is about, and asking for them.

import type { Command } from 'commander';
import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { RejectChoice, RejectedRun } from '../../ledger/rejects/list-rejects.ts';
import { parseRunId, parseString, readFlag } from '../flags.ts';
import type { Io } from '../io.ts';
import { askServer } from '../server.ts';
import { visibleJson } from '../../core/wording.ts';

/** The run, pipeline and table that the command names. Errors: ETL_USAGE. */
export const readChoice = (run: string | undefined, command: Command, io: Io): RejectChoice => {
  const runId = parseRunId(run);
  const pipeline = readFlag(command, 'pipeline', parseString, io) ?? null;
  if (runId !== undefined && pipeline !== null)
    throw new EtlError('ETL_USAGE', {
      problem: 'a run number and --pipeline exclude each other',
      hint: 'A run belongs to one pipeline: give only its number.',
    });
  return { runId, pipeline, table: readFlag(command, 'table', parseString, io) ?? null };
};

/** Runs `use` with the run that is meant. Where there is none, prints `none` as JSON, or says so on `notesTo`. */
export const askRejects = async (
  command: Command,
  io: Io,
  choice: RejectChoice,
  use: (client: Client, run: RejectedRun) => Promise<void>,
  none: object | undefined,
  notesTo = io.stdout,
): Promise<void> => {
  const { rejectedRun } = await import('../../ledger/rejects/list-rejects.ts');
  const isFound = await askServer(command, io, async (client) => {
    const found = await rejectedRun(client, choice);
    if (found !== undefined) await use(client, found);
    return found !== undefined;
  });
  if (isFound === true) return;
  const nothing = isFound === undefined ? 'no runs yet' : 'no rejects';
  if (none === undefined) notesTo.write(`${nothing}\n`);
  else io.stdout.write(`${visibleJson(none)}\n`);
};
