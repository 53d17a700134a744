// The files that the caller wants to reload or unload, by name or location.

import { composed } from '../../core/characters.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { inQuotes } from '../../core/wording.ts';
import type { RunSettings } from '../options.ts';

/** `again`: loads the file although it is loaded already, and keeps the rows of its earlier version. */
export type Wish = 'reload' | 'unload' | 'again';

export interface AskedFiles {
  readonly hasAny: boolean;
  readonly wishOf: (file: { readonly name: string; readonly location: string }) => Wish | undefined;
  readonly refuseUnknown: (pipeline: string) => void;
}

export const askedFiles = ({
  reload,
  unload,
  again,
}: Pick<RunSettings, 'reload' | 'unload' | 'again'>): AskedFiles => {
  const wishes = new Map<string, Wish>([
    ...reload.map((file) => [composed(file), 'reload'] as const),
    ...unload.map((file) => [composed(file), 'unload'] as const),
  ]);
  const unknown = new Set(wishes.keys());
  const names: string[] = [];
  const withSuggestion = (file: string): string => {
    const near = nearest(file, names);
    return inQuotes(file) + (near === undefined ? '' : ` (did you mean ${inQuotes(near)}?)`);
  };
  return {
    hasAny: wishes.size > 0 || again,
    wishOf: ({ name, location }) => {
      if (unknown.size > 0) names.push(name);
      for (const known of [composed(name), composed(location)]) {
        const wish = wishes.get(known);
        if (wish === undefined) continue;
        unknown.delete(known);
        return wish;
      }
      return again ? 'again' : undefined;
    },
    refuseUnknown: (pipeline) => {
      if (unknown.size > 0)
        throw new EtlError('ETL_FILE_UNKNOWN', {
          pipeline,
          files: [...unknown].map(withSuggestion).join(', '),
        });
    },
  };
};
