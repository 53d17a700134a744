// docs/reference/cli.md has the help text of every command; `vitest -u` updates it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands/table.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { fakeIo } from './fake-io.ts';

const page = fileURLToPath(new URL('../../../docs/reference/cli.md', import.meta.url));
const program = createProgram(commands, fakeIo({ stdout: { columns: 100 } }));

const listCommands = (command: Command, path: string): [string, Command][] => [
  [path, command],
  ...command.commands.flatMap((child) => listCommands(child, `${path} ${child.name()}`)),
];

const helpOf = (command: Command): string => {
  let text = '';
  command.configureOutput({ ...command.configureOutput(), writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.trimEnd();
};

const helpTexts = new Map(listCommands(program, 'etl').map(([path, command]) => [path, helpOf(command)]));
const block = /<!-- help: (.+?) -->\n[\s\S]*?<!-- end -->/g;

it('docs/reference/cli.md shows the help texts as they are', async () => {
  const renewed = readFileSync(page, 'utf8').replace(
    block,
    (_, path: string) => `<!-- help: ${path} -->\n\`\`\`text\n${helpTexts.get(path)}\n\`\`\`\n<!-- end -->`,
  );
  await expect(renewed).toMatchFileSnapshot(page);
});

it('docs/reference/cli.md has every command', () => {
  const shown = [...readFileSync(page, 'utf8').matchAll(block)].map(([, path]) => path);
  expect(new Set(shown)).toEqual(new Set(helpTexts.keys()));
});
