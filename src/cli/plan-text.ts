// What a run would do, as lines: one block a table.

import type { TablePlan } from '../run/explain.ts';
import { alignRows, visibleText } from './layout.ts';
import type { Paint } from './paint.ts';

/** A table's name, and under it its steps in two columns. */
export const planLines = (plans: readonly TablePlan[], paint: Paint): string[] => {
  const blocks = plans.map(({ schema, table, kind, steps }) => {
    const rows = steps.map(({ step, text }) => [`  ${step}`, visibleText(text)]);
    const title = `${paint('bold', visibleText(`${schema}.${table}`))}${kind === 'derived' ? ' (derived)' : ''}`;
    return [title, ...alignRows(rows, ['left', 'left'])];
  });
  return [...blocks.flat(), '', 'Nothing was done: without --explain it will be.'];
};
