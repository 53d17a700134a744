// BullMQ itself: the one place that loads it.

import { createRequire } from 'node:module';
import type * as BullMq from 'bullmq';

/**
 * Loads BullMQ as CommonJS. Its ES modules cannot open a PostgreSQL connection by themselves (they look for `require`),
 * and take twice as long to load.
 */
export const loadBullMq = (): typeof BullMq => createRequire(import.meta.url)('bullmq') as typeof BullMq;
