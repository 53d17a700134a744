// env(): a secret in an environment variable instead of in the pipeline.

import type { Secret } from '../../core/declaration/secret.ts';

/**
 * Names an environment variable that holds a secret of a source: `csv(url, { bearer: env('TOKEN') })`. Every process that reads the
 * source reads the variable itself, when it makes a request; its value is never stored, logged or printed.
 */
export const env = (name: string): Secret => Object.freeze({ kind: 'env', name });
