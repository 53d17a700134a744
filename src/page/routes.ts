// The addresses of all pages. A new page is a file in views/ and a line here.

import { withActions } from './control/sections.ts';
import type { MakeView } from './parts/view.ts';
import { actionsView, actionView } from './views/actions.ts';
import { filesView } from './views/files.ts';
import { overview } from './views/overview.ts';
import { queueView } from './views/queue.ts';
import { rejectsView } from './views/rejects.ts';
import { runView } from './views/run.ts';
import { runsView } from './views/runs.ts';
import { scheduleView } from './views/schedule.ts';
import { schedulesView } from './views/schedules.ts';

interface Route {
  readonly pattern: RegExp;
  readonly make: MakeView;
}

const routes: readonly Route[] = [
  { pattern: /^\/$/, make: overview },
  { pattern: /^\/rejects$/, make: rejectsView },
  { pattern: /^\/files$/, make: filesView },
  { pattern: /^\/runs$/, make: runsView },
  { pattern: /^\/runs\/(\d{1,15})$/, make: withActions('run', runView) },
  { pattern: /^\/schedules$/, make: schedulesView },
  // The pattern of schedule names is that of pipeline names.
  { pattern: /^\/schedules\/([\w-]{1,80})$/, make: withActions('schedule', scheduleView) },
  { pattern: /^\/queue$/, make: queueView },
  { pattern: /^\/actions$/, make: actionsView },
  { pattern: /^\/actions\/(\d{1,15})$/, make: actionView },
];

/** Finds the page at a path. `parts`: the captured parts of the path. */
export const findRoute = (
  path: string,
): { readonly make: MakeView; readonly parts: readonly string[] } | undefined => {
  for (const { pattern, make } of routes) {
    const found = pattern.exec(path);
    if (found !== null) return { make, parts: found.slice(1) };
  }
  return undefined;
};
