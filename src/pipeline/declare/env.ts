// env(): names a secret in an environment variable, so that the pipeline does not contain the
// secret.

import type { Secret } from '../../core/secret.ts';

/**
 * Names an environment variable that contains a secret: `csv(url, { bearer: env('TOKEN') })`. Each
 * process reads the variable from its own environment when it makes a request. The secret is never
 * stored, logged or printed.
 */
export const env = (name: string): Secret => Object.freeze({ kind: 'env', name });
