// The publications by the declared `publish`: a new one is a file beside this and a line here.

import type { PublishMode } from '../declaration.ts';
import type { Publication } from './contract.ts';
import { inPlace } from './in-place.ts';
import type { ProductionTable } from './production.ts';
import { swap } from './swap.ts';

/** The first that takes the existing table is chosen; the last takes any. They share one `build`. */
export const publications: Readonly<Record<PublishMode, readonly Publication[]>> = {
  replace: [swap, inPlace],
};

export const choosePublication = (mode: PublishMode, production: ProductionTable | undefined): Publication =>
  publications[mode].find((publication) => publication.takes(production))!;

/** Completes the rows of a table for any of them: production may change until one is chosen. */
export const buildFor = (mode: PublishMode): Publication['build'] => publications[mode][0]!.build;

/** The one of this name; undefined for the name of a later version of ours. */
export const publicationNamed = (name: string): Publication | undefined =>
  Object.values(publications)
    .flat()
    .find((publication) => publication.name === name);
