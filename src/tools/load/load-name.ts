// The name of the pipeline that `etl load` makes for a table.

import { fittingName } from '../../db/names.ts';
import { columnNames } from '../init/header.ts';
import type { Target } from './target.ts';

const plain = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const plainMax = 40;

/**
 * Name of the pipeline: `load-users`, `load-app-users`. A name that cannot be part of it as it is
 * gets a hash.
 */
export const loadName = ({ schema, table }: Pick<Target, 'schema' | 'table'>): string => {
  const parts = schema === 'public' ? [table] : [schema, table];
  const whole = `load-${parts.join('-')}`;
  if (parts.every((part) => plain.test(part)) && whole.length <= plainMax) return whole;
  const [words = ''] = columnNames([parts.join('_')]);
  const ascii =
    words
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, plainMax / 2) || 'table';
  const hash = fittingName(JSON.stringify(parts).padEnd(64)).slice(-8);
  return `load-${ascii.replace(/_+$/, '')}_${hash}`;
};
