// Writes index.d.cts: the types for programs in CommonJS, which may not import the declarations of an
// ES module without saying so.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names in `export { a, type B } from …` and `export type { C } from …`. */
const exported = (text) =>
  [...text.matchAll(/^export (type )?\{([^}]*)\} from/gm)].flatMap(([, isType, names]) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
      .map((name) => ({
        name: name.replace(/^type /, ''),
        isType: isType !== undefined || name.startsWith('type '),
      })),
  );

const asModule = "with { 'resolution-mode': 'import' }";

/** `directory`: that of the compiled index.d.ts. */
export const writeCommonJsTypes = (directory) => {
  const all = exported(readFileSync(join(directory, 'index.d.ts'), 'utf8'));
  const names = (wanted) => all.filter(({ isType }) => isType === wanted).map(({ name }) => name);
  const values = names(false);
  // A class is a type, too.
  const classes = values.filter((name) => /^[A-Z]/.test(name));
  const lines = [
    `import type * as sluice from './index.js' ${asModule};`,
    `export type { ${names(true).join(', ')} } from './index.js' ${asModule};`,
    ...values.map((name) => `export declare const ${name}: typeof sluice.${name};`),
    ...classes.map((name) => `export type ${name} = sluice.${name};`),
  ];
  writeFileSync(join(directory, 'index.d.cts'), `${lines.join('\n')}\n`);
};
