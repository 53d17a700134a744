// What each value of `publish` means: all that pipeline/ may import of the modes. A new mode is a line here, and one in registry.ts.

import type { PartSpec, PublishSpec } from '../../core/declaration/declaration.ts';
import type { Meaning } from '../table/meaning.ts';
import { append } from './append/meaning.ts';
import { history } from './history/meaning.ts';
import { merge } from './merge/meaning.ts';
import { replace, touched } from './replace/meaning.ts';

const meanings = { append, merge, history, replace: () => touched };

export const meaningOf = (publish: PublishSpec): Meaning =>
  publish === 'replace' ? replace : (meanings[publish.mode] as (spec: PartSpec) => Meaning)(publish);
