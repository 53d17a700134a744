// The name by which the program was called: `etl`, or `sluice`, by which npx finds the package itself.

import { basename } from 'node:path';

/** Package managers make a link of that name, or a script that runs the file of that name. */
export const programName = (): string =>
  basename(process.argv[1] ?? '', '.mjs') === 'sluice' ? 'sluice' : 'etl';

/** What to type in a project: `npx etl db stop`. */
export const npx = (command: string): string => `npx ${programName()} ${command}`;

/**
 * Replaces `etl` where help or an error says what to type: their texts are constants, and another
 * program may have that name.
 */
export const asCalled = (text: string): string => {
  const name = programName();
  if (name === 'etl') return text;
  return text.replaceAll(
    /(?<=`|^ *\$ (?:.*[ (])?|\$\(|npx |[:,] |PS> |completions\/|\.zfunc\/_)etl(?=[ `]|\.fish|$)/gm,
    name,
  );
};
