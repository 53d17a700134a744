// The embedded server of a project is found from its subdirectories, and one that a failed command has set up is named.

import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { stopEmbedded } from '../../src/db/embedded/server.ts';
import { useFiles } from '../helpers/files.ts';
import { etlArgs } from '../helpers/run-typescript.ts';

const files = useFiles();

const project = realpathSync(files.directory);
const below = join(project, 'pipelines/deep');
mkdirSync(below, { recursive: true });
symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(project, 'node_modules'));
afterAll(() => stopEmbedded(join(project, '.etl')));

const etl = (cwd: string, ...args: string[]): Promise<{ exit: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const { PATH, HOME } = process.env;
    execFile(process.execPath, etlArgs(args), { cwd, env: { PATH, HOME } }, (error, out, err) =>
      resolve({ exit: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const pipelineFile = join(project, 'city.ts');
writeFileSync(
  pipelineFile,
  `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'place',
  schema: 'place',
  tables: { city: { source: csv('city.csv'), columns: { name: column.text('name') } } },
});
`,
);

it('a failed run names the server that it has set up, and commands in a subdirectory find that one', async () => {
  const { exit, err } = await etl(project, 'run', pipelineFile, '--quiet');
  expect(exit).toBe(1);
  expect(err).toContain('error ETL_SOURCE_NOT_FOUND');
  expect(err).toContain(
    `note: the embedded PostgreSQL that was set up for this run keeps running, in ${join(project, '.etl')};\n` +
      '  `npx etl db stop` stops it',
  );
  // The next one finds it there: nothing new is left behind.
  const again = await etl(project, 'run', pipelineFile, '--quiet');
  expect(again.err).toContain('error ETL_SOURCE_NOT_FOUND');
  expect(again.err).not.toContain('note:');

  const using = `Using the embedded PostgreSQL of ${project} (its .etl/ is the nearest).\n`;
  writeFileSync(join(below, 'city.csv'), 'name\nUlm\n');
  const run = await etl(below, 'run', pipelineFile);
  expect(run).toMatchObject({ exit: 0, out: expect.stringContaining('Published place') });
  expect(run.err).toContain(using);
  const status = await etl(below, 'status', '--json');
  expect(JSON.parse(status.out)[0]).toMatchObject({ pipeline: 'place', state: 'published' });
  expect(status.err).toBe(using);
  expect((await etl(project, 'status')).err).toBe('');
  const stopped = await etl(below, 'db', 'stop');
  expect(stopped).toEqual({ exit: 0, out: 'stopped\n', err: using });
});
