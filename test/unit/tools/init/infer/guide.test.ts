// The pipelines in docs/guide/two-minutes.md are those that `etl init` writes; `npx vitest run test/unit/tools/init/infer/guide.test.ts -u` renews
// them. test/integration/guides.test.ts loads them as modules.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { initText, readForInit } from '../../../../../src/tools/init/write-init.ts';

const page = fileURLToPath(new URL('../../../../../docs/guide/two-minutes.md', import.meta.url));
const block = /<!-- init: (.+?) -->\n[\s\S]*?<!-- end -->/g;

it('docs/guide/two-minutes.md shows what etl init writes', async () => {
  const text = readFileSync(page, 'utf8');
  const paths = [...text.matchAll(block)].map(([, path]) => path!);
  const written = new Map<string, string>();
  for (const path of paths) {
    const draft = await readForInit({ locations: [path], workingDirectory: process.cwd() });
    // The fixture is compressed; from its publisher it comes plain.
    const code = initText(draft, draft.name, `pipelines/${draft.name}.ts`).replace(
      /test\/fixtures\/public\/(.*)\.zst/,
      'data/$1',
    );
    written.set(path, code.trimEnd());
  }
  expect(paths).toHaveLength(3);
  const renewed = text.replace(
    block,
    (_, path: string) => `<!-- init: ${path} -->\n\n\`\`\`ts\n${written.get(path)}\n\`\`\`\n\n<!-- end -->`,
  );
  await expect(renewed).toMatchFileSnapshot(page);
});
