// docs/experiments/results.md and its charts show what results.json has; nobody edits a figure by hand.

import { describe, expect, it } from 'vitest';
import { drawCharts } from '../../../bench/experiments/charts.ts';
import { experiments } from '../../../bench/experiments/registry.ts';
import { pageOf } from '../../../bench/experiments/report.ts';
import type { Recorded } from '../../../bench/experiments/results.ts';
import { filesBelow, readProjectFile } from './source-files.ts';

const page = readProjectFile('docs/experiments/results.md');
const results = JSON.parse(readProjectFile('docs/experiments/results.json')) as readonly Recorded[];

it('docs/experiments/results.md has every experiment, as it was recorded, and no check failed', () => {
  expect(results.map(({ number }) => number)).toEqual(experiments.map(({ number }) => number));
  expect(results.flatMap(({ checks }) => checks.filter(({ outcome }) => outcome === 'fails'))).toEqual([]);
  expect(pageOf(page, results)).toBe(page);
});

describe('docs/experiments', () => {
  const charts = drawCharts(results);
  it.each(filesBelow('docs/experiments', '.svg'))('$path is drawn from the results', ({ path, text }) => {
    const name = path.replace('docs/experiments/', '');
    expect(text).toBe(charts[name]);
    expect(page).toContain(name);
  });
});
