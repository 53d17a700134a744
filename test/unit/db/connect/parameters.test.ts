// docs/operations/connecting.md has the same table of parameters as the code.

import { expect, it } from 'vitest';
import { parameterNames, parameterTable } from '../../../../src/db/connect/parameters.ts';
import { readProjectFile } from '../../project/source-files.ts';

/** Parameters that are accepted and deliberately have no effect. */
const overruled = new Set(['application_name', 'fallback_application_name']);

it('docs/operations/connecting.md lists every parameter, its variable, and what is honoured', () => {
  const rows = [
    ...readProjectFile('docs/operations/connecting.md').matchAll(/^\| `(\w+)` \|(.*?)\|(.*?)\|/gm),
  ].map(([, name, variable = '', honoured = '']) => [name, variable.trim(), honoured.trim()]);
  const known = parameterNames.map((name) => {
    const { variable, isVariableIgnored, values, why } = parameterTable[name];
    const list = values?.map((value) => `\`${value}\``).join(', ');
    const some = `${why === undefined ? '' : 'only '}${list}`;
    const all = overruled.has(name) ? 'overruled' : why === undefined ? 'yes' : 'no';
    const ignored = isVariableIgnored ? ', ignored' : '';
    return [name, variable === undefined ? '' : `\`${variable}\`${ignored}`, list === undefined ? all : some];
  });
  expect(rows).toEqual(known);
});
