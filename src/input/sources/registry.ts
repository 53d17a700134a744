// The sources that there are. Adding one is a file beside this one and a line here.

import type { OptionRule, Source } from './contract.ts';
import { http } from './http/http.ts';
import { localFiles } from './local-files.ts';
import { s3 } from './s3/s3.ts';
import { stdin } from './stdin.ts';

/** In the order in which a location is offered to them: a path may look like anything, so local files are the last. */
const sources: readonly Source[] = [stdin, http, s3, localFiles];

/** The source with this name in the ledger. */
export const sourceNamed = (name: string): Source => sources.find((source) => source.name === name)!;

const sourceOf = (location: string): Source => sources.find(({ matches }) => matches(location))!;

/** What is wrong with a location by itself. */
export const locationProblem = (location: string): string | undefined => sourceOf(location).problem(location);

/** Whether a location names files that are left out, whichever other one finds them. */
export const isExclusion = (location: string): boolean => /^!(?!\()/.test(location);

/** Whether every process that names these locations finds the same files there. */
export const areShared = (locations: readonly string[]): boolean =>
  locations.every((location) => sourceOf(location).isShared);

/** The locations by their sources, in declared order. */
export const bySource = (
  locations: readonly string[],
): readonly { readonly source: Source; readonly locations: readonly string[] }[] => {
  const ofEach = locations.map(sourceOf);
  return [...new Set(ofEach)].map((source) => ({
    source,
    locations: locations.filter((_, index) => ofEach[index] === source),
  }));
};

/** The options that sources take: those of the locations (undefined: of all sources), and which sources take the others. */
export const optionsOf = (
  locations: readonly string[] | undefined,
): {
  readonly taken: Readonly<Record<string, OptionRule>>;
  readonly others: Readonly<Record<string, readonly string[]>>;
} => {
  const named = locations === undefined ? sources : bySource(locations).map(({ source }) => source);
  const taken = Object.assign({}, ...named.map(({ options }) => options)) as Record<string, OptionRule>;
  const others: Record<string, string[]> = {};
  for (const { name, options } of sources)
    for (const option of Object.keys(options))
      if (!Object.hasOwn(taken, option)) (others[option] ??= []).push(name);
  return { taken, others };
};
