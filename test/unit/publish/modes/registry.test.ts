// The modes of publishing, and what is known of them without their publications.

import { expect, it } from 'vitest';
import { modes } from '../../../../src/publish/modes/registry.ts';
import { takesParts } from '../../../../src/publish/table/tables.ts';
import type { PublishMode } from '../../../../src/core/declaration/declaration.ts';

it('a mode takes parts exactly when it has a publication for them', () => {
  const all = Object.keys(modes) as PublishMode[];
  expect(all.filter(takesParts)).toEqual(all.filter((mode) => modes[mode].part !== undefined));
});
