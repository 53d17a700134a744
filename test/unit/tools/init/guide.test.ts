// `etl init` writes the pipelines in docs/guide/two-minutes.md and test/fixtures/expected/init. To
// update them: `npx vitest run test/unit/tools/init/guide.test.ts -u`.
// test/integration/guides.test.ts loads the guide's pipeline as a module.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { initText, readForInit } from '../../../../src/tools/init/write-init.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

const written = async (path: string): Promise<string> => {
  const draft = await readForInit({ locations: [path], workingDirectory: process.cwd() });
  return (await initText(draft, draft.name, `pipelines/${draft.name}.ts`)).trimEnd();
};

it('docs/guide/two-minutes.md shows what etl init writes', async () => {
  const page = fileOf('docs/guide/two-minutes.md');
  const text = readFileSync(page, 'utf8');
  const block = /<!-- init: (.+?) -->\n[\s\S]*?<!-- end -->/;
  const path = block.exec(text)![1]!;
  const code = await written(path);
  const renewed = text.replace(
    block,
    () => `<!-- init: ${path} -->\n\n\`\`\`ts\n${code}\n\`\`\`\n\n<!-- end -->`,
  );
  await expect(renewed).toMatchFileSnapshot(page);
});

it.each([
  { name: 'isd_history', path: 'test/fixtures/public/noaa/isd-history.csv.zst' }, // a few records are shifted
  { name: 'pp_excerpt', path: 'test/fixtures/public/misc/pp-1995-excerpt.csv.zst' }, // no header, uuids in braces
])('$path becomes the pipeline $name', async ({ name, path }) => {
  await expect(`${await written(path)}\n`).toMatchFileSnapshot(
    fileOf(`test/fixtures/expected/init/${name}.txt`),
  );
});
