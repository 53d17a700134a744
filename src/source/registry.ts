// The sources that there are. Adding one is a file beside this one and a line here.

import type { Source } from './contract.ts';
import { localFiles } from './local-files.ts';

/** In the order in which a location is offered to them: a path may look like anything, so local files are the last. */
export const sources: readonly Source[] = [localFiles];

/** The source with this name in the ledger. */
export const sourceNamed = (name: string): Source => sources.find((source) => source.name === name)!;

/** The locations by their sources, in declared order. */
export const bySource = (
  locations: readonly string[],
): readonly { readonly source: Source; readonly locations: readonly string[] }[] => {
  const ofEach = locations.map((location) => sources.find(({ matches }) => matches(location))!);
  return [...new Set(ofEach)].map((source) => ({
    source,
    locations: locations.filter((_, index) => ofEach[index] === source),
  }));
};
