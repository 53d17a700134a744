// Loads BullMQ. No other file loads it.

import { createRequire } from 'node:module';
import type * as BullMq from 'bullmq';

/** Loads the CommonJS files: the ES modules take twice as long, and cannot load `pg`. */
export const loadBullMq = (): typeof BullMq => createRequire(import.meta.url)('bullmq') as typeof BullMq;
