// Refuses to start an embedded server in production, or if ETL_EMBEDDED forbids it.

import { EtlError } from '../../core/errors/errors.ts';

/** Errors: ETL_EMBEDDED_REFUSED, ETL_ENVIRONMENT. */
export const refuseEmbedded = (env: NodeJS.ProcessEnv): void => {
  const word = env['ETL_EMBEDDED'];
  if (word && word !== 'never')
    throw new EtlError('ETL_ENVIRONMENT', { variable: 'ETL_EMBEDDED', problem: 'the only value is `never`' });
  if (word === 'never') throw new EtlError('ETL_EMBEDDED_REFUSED', { reason: 'ETL_EMBEDDED=never' });
  if (env['NODE_ENV'] === 'production')
    throw new EtlError('ETL_EMBEDDED_REFUSED', { reason: 'NODE_ENV=production' });
};
