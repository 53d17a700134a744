// What our sessions are called on the server: whose they are, and which of them belong together.

import { randomBytes } from 'node:crypto';

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Distinguishes this process's sessions from those of others, on any machine. */
const processTag = hex(4);

/** The server cuts names at 63 bytes. */
const pipelineShownMax = 36;

/** Name of all sessions of one run in this process. */
export const runSessionName = (pipeline: string): string =>
  `sluice ${pipeline.slice(0, pipelineShownMax)} ${processTag}${hex(4)}`;

/** Name of the session over which a worker asks something every second, so that others see whether its process lives. */
export const watchSessionName = `sluice worker ${processTag}`;

/** The same in SQL: how the worker's session is called whose process has the session `name`. */
export const watchSessionOf = (name: string): string =>
  `'sluice worker ' || substring(${name} from '([0-9a-f]{8})[0-9a-f]{8}$')`;
