// application_name of our sessions: tells which sessions belong to which process and run.

import { randomBytes } from 'node:crypto';

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

const processTag = hex(4);

/** The server cuts names at 63 bytes. */
const pipelineShownMax = 36;

export const runSessionName = (pipeline: string): string =>
  `sluice ${pipeline.slice(0, pipelineShownMax)} ${processTag}${hex(4)}`;

/** A worker's watch session queries the server every second, as a sign of life. */
export const watchSessionName = `sluice worker ${processTag}`;

/** SQL: name of the watch session of the process that has session `name`. */
export const watchSessionOf = (name: string): string =>
  `'sluice worker ' || substring(${name} from '([0-9a-f]{8})[0-9a-f]{8}$')`;
