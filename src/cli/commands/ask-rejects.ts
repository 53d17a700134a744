// Finds the run whose rejects a command of `etl rejects` shows.

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { RejectChoice, RejectedRun } from '../../ledger/rejects/list-rejects.ts';
import { databaseUrl, optionalRun, textFlag } from '../inputs.ts';
import { askServer, type GivenServer } from '../server.ts';

export const choosing = {
  run: optionalRun,
  databaseUrl,
  pipeline: textFlag('--pipeline <name>', 'the newest run of this pipeline with rejects'),
  table: textFlag('--table <table>', 'only rejects of this table'),
};

interface GivenChoice extends GivenServer {
  readonly run: number | undefined;
  readonly pipeline: string | undefined;
  readonly table: string | undefined;
}

const choiceOf = ({ run: runId, pipeline, table }: GivenChoice): RejectChoice => {
  if (runId !== undefined && pipeline !== undefined)
    throw new EtlError('ETL_USAGE', {
      problem: 'a run number and --pipeline exclude each other',
      hint: 'A run belongs to one pipeline: give only its number.',
    });
  return { runId, pipeline: pipeline ?? null, table: table ?? null };
};

/** The result, or a text for the user if nothing was found. */
export type Asked<T> = { readonly found: T } | { readonly nothing: string };

/** Calls `use` with the chosen run. `use` returns undefined for no result. Errors: ETL_USAGE. */
export const askRejects = async <T>(
  given: GivenChoice,
  use: (client: Client, run: RejectedRun) => Promise<T | undefined>,
): Promise<Asked<T>> => {
  const choice = choiceOf(given);
  const { rejectedRun } = await import('../../ledger/rejects/list-rejects.ts');
  const answer = await askServer(given, async (client) => {
    const run = await rejectedRun(client, choice);
    const found = run && (await use(client, run));
    return found === undefined ? { nothing: 'no rejects' } : { found };
  });
  return answer ?? { nothing: 'no runs yet' };
};
