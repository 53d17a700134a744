// Names of our sessions (application_name), by which their process and run are recognized.

import { randomBytes } from 'node:crypto';

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

const processTag = hex(4);

/** Letters of the pipeline's name in a session's name, which the server cuts at 63 bytes. */
const pipelineShownMax = 36;

export const runSessionName = (pipeline: string): string =>
  `sluice ${pipeline.slice(0, pipelineShownMax)} ${processTag}${hex(4)}`;

/** Name of the session in which a worker queries the server every second, as a sign of life. */
export const watchSessionName = `sluice worker ${processTag}`;

/** SQL: name of the watch session of the process to which the session `name` belongs. */
export const watchSessionOf = (name: string): string =>
  `'sluice worker ' || substring(${name} from '([0-9a-f]{8})[0-9a-f]{8}$')`;
