// Records an attempt to run that failed before its server was asked for anything.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { EtlError } from '../core/errors/errors.ts';
import type { Receiver } from '../core/notification.ts';
import { silentLogger } from '../core/logger.ts';
import { defaultQueue } from '../core/model.ts';
import type { Io } from './io.ts';
import { etlDirectoryOf, type GivenServer } from './server.ts';

/** Returns the server's address; undefined: none is named, and no embedded server is running. */
const runningServer = async ({ io, databaseUrl }: GivenServer) => {
  const { namesServer, resolveServer } = await import('../db/connect/address.ts');
  const given = { databaseUrl, env: io.env, etlDirectory: '', creates: false };
  if (databaseUrl !== undefined || namesServer(io.env)) return resolveServer(given);
  const etlDirectory = await etlDirectoryOf(io);
  const { findEmbedded } = await import('../db/embedded/server.ts');
  if ((await findEmbedded(etlDirectory)) === undefined) return undefined;
  return resolveServer({ ...given, etlDirectory });
};

/** A name or path mistyped on a terminal would be listed as failing until it is pruned. */
const isTypo = ({ stderr, workingDirectory }: Io, { code, details }: EtlError): boolean => {
  if (stderr.isTTY !== true) return false;
  if (code !== 'ETL_PIPELINE_FILE') return code === 'ETL_PIPELINE_UNKNOWN';
  const file = resolve(workingDirectory, String(details['file']));
  return statSync(file, { throwIfNoEntry: false })?.isFile() !== true;
};

/** Records the failure, where somebody who did not see this output looks. Prints if it cannot. */
export const recordEarly = async (
  given: GivenServer,
  pipeline: string,
  error: EtlError,
  receivers: readonly Receiver[],
): Promise<void> => {
  const { io } = given;
  if (isTypo(io, error)) return;
  const address = await runningServer(given).catch(() => undefined);
  if (address === undefined) return;
  const { recordFailure } = await import('../run/record-failure.ts');
  const warn = (): void => void io.stderr.write('note: this failure could not be recorded in the database\n');
  const failed = { pipeline, job: null, queue: defaultQueue };
  await recordFailure(address, failed, error, { ...silentLogger, warn }, receivers);
};
