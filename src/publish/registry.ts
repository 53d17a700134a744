// The publications there are, by what a table declares as `publish`: another one is a file beside this and a line here.

import type { PublishMode } from '../declaration.ts';
import type { Publication } from './contract.ts';
import { inPlace } from './in-place.ts';
import type { ProductionTable } from './production.ts';
import { swap } from './swap.ts';

/** Of several, the first that takes the table that is there; the last takes any. They share one `build`. */
export const publications: Readonly<Record<PublishMode, readonly Publication[]>> = {
  replace: [swap, inPlace],
};

export const choosePublication = (mode: PublishMode, production: ProductionTable | undefined): Publication =>
  publications[mode].find((publication) => publication.takes(production))!;

/** Makes the rows of a table ready for whichever is chosen in the end: production may change until then. */
export const buildFor = (mode: PublishMode): Publication['build'] => publications[mode][0]!.build;

/** The one of this name; undefined for the name of a later version of ours. */
export const publicationNamed = (name: string): Publication | undefined =>
  Object.values(publications)
    .flat()
    .find((publication) => publication.name === name);
