// HTTP and HTTPS as a source. A file is read as a stream, and resumed after a cut connection.

import { EtlError } from '../../../core/errors/errors.ts';
import type { Listed, Listing, Source } from '../contract.ts';
import { httpOptionRules } from './options.ts';
import { expandBraces, isAsWritten, urlProblem, withoutSecrets } from './url.ts';

async function* list({ table, locations, varied }: Listing): AsyncGenerator<Listed, void> {
  const known = new Map<string, string>();
  for (const location of locations)
    for (const text of expandBraces(location)) {
      const url = new URL(text);
      const name = withoutSecrets(url);
      if (varied?.get(location)?.some((one) => !isAsWritten(url, location, one)) === true)
        throw new EtlError('ETL_SOURCE_OUTSIDE', {
          table,
          file: name,
          base: 'the host, path and query that the pipeline names',
        });
      const other = known.get(name);
      if (other === url.href) continue;
      if (other !== undefined)
        throw new EtlError('ETL_SOURCE_ADDRESS', {
          table,
          file: name,
          problem: 'two URLs differ only in their secrets, which are not stored',
          hint: 'Give each file a URL of its own, or pass the secret as a header: csv(…, { headers: { … } }).',
        });
      known.set(name, url.href);
      yield { location: name, name };
    }
}

/** Imported only for requests, because every loading thread imports this file. */
const files = () => import('./files.ts');

export const http: Source = {
  name: 'http',
  matches: (location) => /^https?:\/\//i.test(location),
  problem: urlProblem,
  options: httpOptionRules,
  list,
  look: async (file, access) => (await files()).look(file, access),
  isSeekable: false,
  isShared: true,
  async *open(...asked) {
    yield* (await files()).open(...asked);
  },
};
