// Checks that the meaning of each mode agrees with its implementation.

import { expect, it } from 'vitest';
import type { PublishSpec } from '../../../../src/core/declaration.ts';
import { meaningOf } from '../../../../src/publish/modes/meanings.ts';
import { modeOf, strategies } from '../../../../src/publish/modes/registry.ts';
import { allRows } from '../../../../src/publish/modes/replace/mode.ts';
import { bringsAllRows } from '../../../../src/publish/table/production.ts';

const merge = { changed: 'error', gone: 'keep', update: undefined, newer: undefined, deleted: [] } as const;
const all: readonly PublishSpec[] = [
  'replace',
  { mode: 'replace', only: 'touched', changed: 'reload', gone: 'keep' },
  { mode: 'append', changed: 'error', gone: 'keep' },
  { ...merge, mode: 'merge', twice: 'last' },
  { ...merge, mode: 'history', from: 'a', to: 'b', at: undefined },
];

it('a mode takes parts exactly when it has a strategy for them', () => {
  const meanings = all.map(meaningOf);
  expect(meanings.map(({ takesParts }) => takesParts)).toEqual(
    meanings.map((mode) => modeOf({ mode }).part !== undefined),
  );
});

it('strategies that only write rows of some files do not bring all rows', () => {
  const makers = new Set(allRows.strategies.map(({ name }) => name));
  const others = strategies.filter(({ name, writes }) => writes && !makers.has(name));
  const names = others.map(({ name }) => name);
  expect(bringsAllRows).toBe(`strategy not in (${names.map((name) => `'${name}'`).join(', ')})`);
});
