// What a run would do, as lines: one block a table.

import type { Explanation, OutsetPlan } from '../../run/begin/explain.ts';
import { alignRows, visibleText } from './layout.ts';
import type { Paint } from './paint.ts';

const outsetLines = ({ does, run, why }: OutsetPlan): string[] => {
  const texts = {
    nothing: `Nothing to do: files and definition are unchanged since run ${run}; --full-refresh loads everything again.`,
    continue: `Run ${run} is unfinished: its missing data would be loaded.`,
    load: 'Everything would be loaded.',
    'load new': 'Files that are new or changed would be loaded.',
    unknown: 'It is unknown whether there is anything to do.',
  };
  return [
    texts[does],
    ...why.map((line) => `  ${visibleText(line)}`),
    'Dry run. Run without --explain to load.',
  ];
};

/** A table's name, and under it its steps in two columns; then what the run would begin as. */
export const planLines = ({ tables, outset }: Explanation, paint: Paint): string[] => {
  const blocks = tables.map(({ schema, table, kind, steps }) => {
    const rows = steps.map(({ step, text }) => [`  ${step}`, visibleText(text)]);
    const title = `${paint('bold', visibleText(`${schema}.${table}`))}${kind === 'derived' ? ' (derived)' : ''}`;
    return [title, ...alignRows(rows, ['left', 'left'])];
  });
  return [...blocks.flat(), '', ...outsetLines(outset)];
};
