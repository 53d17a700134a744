// Every page and its address. A new page is one file in views/ and one line here.

import type { MakeView } from './view.ts';
import { overview } from './views/overview.ts';
import { runView } from './views/run.ts';
import { runsView } from './views/runs.ts';

interface Route {
  readonly pattern: RegExp;
  readonly make: MakeView;
}

const routes: readonly Route[] = [
  { pattern: /^\/$/, make: overview },
  { pattern: /^\/runs$/, make: runsView },
  { pattern: /^\/runs\/(\d{1,15})$/, make: runView },
];

/** The page at a path, and what its pattern captures. */
export const findRoute = (
  path: string,
): { readonly make: MakeView; readonly parts: readonly string[] } | undefined => {
  for (const { pattern, make } of routes) {
    const found = pattern.exec(path);
    if (found !== null) return { make, parts: found.slice(1) };
  }
  return undefined;
};
