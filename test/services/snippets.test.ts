// examples/editor: each snippet, as an editor leaves it, compiles and declares a pipeline.

import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadPipelineFile } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { readProjectFile, root } from '../unit/project/source-files.ts';

interface Snippet {
  readonly scope: string;
  readonly prefix: string;
  readonly description: string;
  readonly body: readonly string[];
}
const snippets = Object.values(
  JSON.parse(readProjectFile('examples/editor/sluice.code-snippets')) as Readonly<Record<string, Snippet>>,
);

/** The text when every placeholder is left as it is: the first of its choices. */
const leftAsItIs = ({ body }: Snippet): string =>
  body
    .join('\n')
    .replaceAll(/\$(?:\{\d+(?::([^}]*)|\|([^,|]*)[^}]*)\}|\d+)/g, (_, text = '', first = '') => text + first);

const start =
  "import { column, csv, definePipeline, expect, sqlFile } from 'sluice';\nexport default definePipeline({";
const table = "source: csv('sales.csv'), columns: { id: column.integer('Id') },";

/** Pipelines around snippets that are not whole. */
const around = (prefix: string, text: string): string => {
  const names = "name: 'shop', schema: 'shop',";
  if (prefix === 'sluice-pipeline') return text;
  if (prefix === 'sluice-tests') return `${start} ${names} tables: { sale: { ${table} ${text} } } });`;
  if (prefix === 'sluice-timestamp')
    return `${start} ${names} tables: { sale: { source: csv('sales.csv'), columns: { ${text} } } } });`;
  return `${start} ${names} tables: { ${prefix === 'sluice-derived' ? `sale: { ${table} },` : ''} ${text} } });`;
};

const { directory, write } = useFiles();
beforeAll(() => {
  for (const each of snippets) write(`${each.prefix}.ts`, around(each.prefix, leftAsItIs(each)));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write(
    'tsconfig.json',
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        paths: { sluice: [join(root, 'src/index.ts')] },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['*.ts'],
    }),
  );
});

it('the snippets compile', async () => {
  const out = await new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', directory], (_, text) => resolve(text));
  });
  expect(out).toBe('');
});

describe('declares a pipeline', () => {
  it.each(snippets.map((each) => ({ ...each, name: each.prefix })))(
    '$name',
    async ({ prefix, description, scope }) => {
      const { pipeline } = await loadPipelineFile(join(directory, `${prefix}.ts`));
      expect(pipeline.name).toBe('shop');
      expect({ description, scope }).toEqual({
        description: expect.stringMatching(/^A |^Tests /),
        scope: 'typescript,javascript',
      });
    },
  );
});
