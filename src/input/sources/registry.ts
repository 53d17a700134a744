// All sources. To add one: a file beside this one, and a line here.

import type { OptionRule, Source } from './contract.ts';
import { http } from './http/http.ts';
import { localFiles } from './local-files.ts';
import { s3 } from './s3/s3.ts';
import { stdin } from './stdin.ts';

/** The first source that matches is used. Any text may be a path, so files are last. */
const sources: readonly Source[] = [stdin, http, s3, localFiles];

export const sourceNamed = (name: string): Source => sources.find((source) => source.name === name)!;

const sourceOf = (location: string): Source => sources.find(({ matches }) => matches(location))!;

export const locationProblem = (location: string): string | undefined => sourceOf(location).problem(location);

/** True for an exclusion such as `!tmp-*.csv`. `!(` begins a glob instead. */
export const isExclusion = (location: string): boolean => /^!(?!\()/.test(location);

export const areShared = (locations: readonly string[]): boolean =>
  locations.every((location) => sourceOf(location).isShared);

/** Groups locations by source. Within a group, locations keep their order. */
export const bySource = (
  locations: readonly string[],
): readonly { readonly source: Source; readonly locations: readonly string[] }[] => {
  const ofEach = locations.map(sourceOf);
  return [...new Set(ofEach)].map((source) => ({
    source,
    locations: locations.filter((_, index) => ofEach[index] === source),
  }));
};

/**
 * Returns the options that the sources of these locations take (undefined: all sources), and for
 * each other option the sources that take it.
 */
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
