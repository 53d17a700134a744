// Which files of a folder are pipelines.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadCatalog } from '../../../src/worker/catalog.ts';
import { useFiles } from '../../helpers/files.ts';

const files = useFiles();

it('finds pipelines where Kubernetes mounts a ConfigMap: each file is a link into a hidden directory', async () => {
  const folder = join(files.directory, 'pipelines');
  mkdirSync(join(folder, '..2026_11_28'), { recursive: true });
  files.write(
    'pipelines/..2026_11_28/words.ts',
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: 'words', schema: 'words', tables: {
      word: { source: csv('words.csv'), columns: { n: column.integer('n') } } } });`,
  );
  symlinkSync('..2026_11_28', join(folder, '..data'));
  symlinkSync('..data/words.ts', join(folder, 'words.ts'));
  const { names, broken } = await loadCatalog(folder);
  expect({ names, broken }).toEqual({ names: ['words'], broken: [] });
});
