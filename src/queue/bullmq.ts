// Loads BullMQ. No other file loads it.

import { createRequire } from 'node:module';
import type * as BullMq from 'bullmq';

/**
 * As CommonJS: the ES modules load in twice the time, and fail to load `pg`, because they call
 * `require`.
 */
export const loadBullMq = (): typeof BullMq => createRequire(import.meta.url)('bullmq') as typeof BullMq;
