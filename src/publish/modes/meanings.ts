// The meaning of each `publish` value. The only file of modes/ that pipeline/ may import.

import type { PartSpec, PublishSpec } from '../../core/declaration.ts';
import type { Meaning } from '../table/meaning.ts';
import { append } from './append/meaning.ts';
import { history } from './history/meaning.ts';
import { merge } from './merge/meaning.ts';
import { replace, touched } from './replace/meaning.ts';

const meanings = { append, merge, history, replace: () => touched };

export const meaningOf = (publish: PublishSpec): Meaning =>
  publish === 'replace' ? replace : (meanings[publish.mode] as (spec: PartSpec) => Meaning)(publish);
