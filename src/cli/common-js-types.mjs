// Writes index.d.cts: the types for programs in CommonJS, which may not import the declarations of an
// ES module without saying so.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The names in `export { a, type B } from './c.js'` and `export type { C } from …`. */
const exported = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/^export (type )?\{([^}]*)\} from '(.+)\.[jt]s'/gm)].flatMap(
    ([, isType, names, module]) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
        .map((name) => ({
          name: name.replace(/^type /, ''),
          isType: isType !== undefined || name.startsWith('type '),
          file: join(dirname(file), `${module}.d.ts`),
        })),
  );

/** The comment of a value, which editors show on hover: a constant of this type does not inherit it. */
const commentOf = ({ name, file }) => {
  const passedOn = exported(file).find((other) => other.name === name);
  if (passedOn !== undefined) return commentOf(passedOn);
  const comment = String.raw`/\*\*(?:(?!\*/)[^])*\*/\n`;
  const declared = new RegExp(`(${comment})export declare (?:const|class|function) ${name}\\b`);
  return declared.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
};

const asModule = "with { 'resolution-mode': 'import' }";

/** `directory`: that of the compiled index.d.ts. */
export const writeCommonJsTypes = (directory) => {
  const all = exported(join(directory, 'index.d.ts'));
  const types = all.filter(({ isType }) => isType).map(({ name }) => name);
  const values = all.filter(({ isType }) => !isType);
  // A class is a type, too.
  const classes = values.filter(({ name }) => /^[A-Z]/.test(name));
  const lines = [
    `import type * as sluice from './index.js' ${asModule};`,
    `export type { ${types.join(', ')} } from './index.js' ${asModule};`,
    ...values.map(
      (value) => `${commentOf(value)}export declare const ${value.name}: typeof sluice.${value.name};`,
    ),
    ...classes.map((value) => `${commentOf(value)}export type ${value.name} = sluice.${value.name};`),
  ];
  writeFileSync(join(directory, 'index.d.cts'), `${lines.join('\n')}\n`);
};
