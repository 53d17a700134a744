// loadPipelineFile(): its result, and its errors for files that are not a pipeline.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EtlError } from '../../../src/core/errors/errors.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import { loadPipelineFile } from '../../../src/pipeline/load-file.ts';

const fixtures = resolve(import.meta.dirname, '../../fixtures/pipelines');
let directory: string;
let nextFile = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-pipeline-'));
});
afterAll(() => rm(directory, { recursive: true }));

const errorOf = async (path: string): Promise<EtlError> => {
  const thrown: unknown = await loadPipelineFile(path).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(EtlError);
  return thrown as EtlError;
};

/** Writes a file, loads it and returns the error text, with DIR and FILE in place of the paths. */
const problemOf = async (text: string): Promise<{ code: string; problem: unknown; hint: string }> => {
  const file = join(directory, `pipeline-${(nextFile += 1)}.ts`);
  await writeFile(file, text);
  const { code, details, hint } = await errorOf(file);
  const problem = String(details.problem ?? details.problems)
    .replaceAll(file, 'FILE')
    .replaceAll(directory, 'DIR');
  return { code, problem, hint };
};

describe('a pipeline file', () => {
  it('gives the pipeline, its directory and its absolute path', async () => {
    const path = relative(process.cwd(), join(fixtures, 'noaa.ts'));
    const { pipeline, directory: home, file } = await loadPipelineFile(path);
    expect({ home, file }).toEqual({ home: fixtures, file: join(fixtures, 'noaa.ts') });
    const spec = bindPipeline(pipeline, { directory: home });
    expect(spec.tables.map(({ name }) => name)).toEqual(['station', 'observation', 'daily']);
  });

  it('may import other files and Zod, and take parameters', async () => {
    const { pipeline } = await loadPipelineFile(join(fixtures, 'yearly.ts'));
    const spec = bindPipeline(pipeline, { params: { year: '2011' }, directory });
    expect(spec.tables).toMatchObject([
      { name: 'station_all', columns: [{ name: 'wban' }, { name: 'name' }] },
      { name: 'observation' },
    ]);
  });

  it('shares this very copy of the library, and whatever else the caller exports', async () => {
    const file = join(directory, 'shared.ts');
    await writeFile(
      file,
      `import { column, csv, definePipeline, marker } from 'sluice';
       await Promise.resolve();
       if (marker !== 'mine') throw new Error('another copy');
       const tables = { t: { source: csv('a.csv'), columns: { a: column.text('A') } } };
       export default definePipeline({ name: 'p', schema: 's', tables });`,
    );
    const authoring = await import('../../../src/pipeline/authoring.ts');
    const { pipeline } = await loadPipelineFile(file, { ...authoring, marker: 'mine' });
    expect(pipeline.name).toBe('p');
  });

  it('is found with its accents composed or not', async () => {
    const file = join(directory, 'größe.ts');
    await writeFile(
      file.normalize('NFD'),
      `import { column, csv, definePipeline } from 'sluice';
       const tables = { t: { source: csv('a.csv'), columns: { a: column.text('A') } } };
       export default definePipeline({ name: 'p', schema: 's', tables });`,
    );
    expect((await loadPipelineFile(file)).file).toBe(file.normalize('NFD'));
  });

  it('may come from another copy of the library', async () => {
    const file = join(directory, 'copy.ts');
    const copy = resolve(import.meta.dirname, '../../../src/pipeline/authoring.ts');
    await writeFile(
      file,
      `import { column, csv, definePipeline } from ${JSON.stringify(copy)};
       const tables = { t: { source: csv('a.csv'), columns: { a: column.text('A') } } };
       export default definePipeline({ name: 'p', schema: 's', tables });`,
    );
    const { pipeline } = await loadPipelineFile(file);
    expect(bindPipeline(pipeline, { directory }).tables).toMatchObject([{ columns: [{ name: 'a' }] }]);
  });
});

describe('a file that is no pipeline', () => {
  const head = `import { column, csv, definePipeline } from 'sluice';\n`;
  const declared = `definePipeline({ name: 'p', schema: 's', tables: { t: { source: csv('a'), columns: { a: column.text('A') } } } })`;
  const exportHint = 'End the file with `export default definePipeline({ … })`.';
  const mendHint = 'Fix the file; `npx tsc --noEmit` shows more.';
  it.each([
    ['empty', '', 'it has no default export', exportHint],
    [
      'a named export only',
      `${head}export const noaa = ${declared};`,
      'it has no default export, only `noaa`',
      'Add `export default noaa;`.',
    ],
    [
      'the definition without definePipeline',
      `export default { name: 'p', schema: 's', tables: {} };`,
      'its default export was not made by definePipeline',
      exportHint,
    ],
    ['a syntax error', `${head}export default {\n  name: (;\n};`, 'Unexpected token (FILE:3)', mendHint],
    [
      'code that throws',
      `${head}\nconst fail = (): never => {\n  throw new Error('no data today');\n};\nfail();\nexport default ${declared};`,
      'no data today (FILE:4:9)',
      mendHint,
    ],
    [
      'a function that does not exist',
      `${head}const made = definePipelin({});\nexport default made;`,
      'definePipelin is not defined (FILE:2:14)',
      mendHint,
    ],
    [
      'a line that transpiling moved',
      `${head}export default definePipelin({});`,
      'definePipelin is not defined (FILE:2:16)',
      mendHint,
    ],
    [
      'a function that sluice does not export',
      `import { tsv } from 'sluice';\nexport default tsv('a');`,
      'tsv is not a function (FILE:2:19)',
      mendHint,
    ],
    [
      'an import that does not exist',
      `import { a } from './elsewhere.ts';\nexport default a;`,
      "Cannot find module './elsewhere.ts'",
      mendHint,
    ],
    ['an error in the first line', `throw new Error('no data today');`, 'no data today (FILE:1)', mendHint],
    [
      'an error in the middle of a declaration',
      `${head}export default definePipeline({\n  name: missing,\n});`,
      'missing is not defined (FILE:3:9)',
      mendHint,
    ],
    ['something thrown that is no error', `throw 'tomatoes';`, 'tomatoes', mendHint],
  ])('%s', async (_, text, problem, hint) =>
    expect(await problemOf(text)).toEqual({ code: 'ETL_PIPELINE_FILE', problem, hint }),
  );

  it('errors of definePipeline pass through untouched', async () =>
    expect(
      await problemOf(
        `${head}export default definePipeline({ name: 'p', schema: 's', tables: { t: { source: csv('a'), columns: { a: column.strnig('A') } } } });`,
      ),
    ).toMatchObject({
      code: 'ETL_DEFINITION',
      problem: expect.stringMatching(
        /^\n {2}table t, column a: unknown column type `strnig`; did you mean `text`\?/,
      ),
    }));

  it('a misspelt modifier is a problem of its column', async () =>
    expect(
      await problemOf(
        `${head}export default definePipeline({ name: 'p', schema: 's', tables: { t: { source: csv('a'), columns: { a: column.text('A').nulable() } } } });`,
      ),
    ).toMatchObject({
      code: 'ETL_DEFINITION',
      problem: '\n  table t, column a: unknown modifier `.nulable`; did you mean `nullable`?',
    }));

  it.each([
    [
      'a misspelt name',
      join(fixtures, 'nooa.ts'),
      'there is no such file',
      `Did you mean ${relative(process.cwd(), join(fixtures, 'noaa.ts'))}?`,
    ],
    [
      'a name like no other',
      join(fixtures, 'something-else-entirely.ts'),
      'there is no such file',
      `Paths are relative to the working directory, ${process.cwd()}.`,
    ],
    [
      'a directory that does not exist',
      join(fixtures, 'nowhere', 'noaa.ts'),
      `the directory ${join(fixtures, 'nowhere')} does not exist`,
      'Paths are relative to the working directory.',
    ],
    ['a directory', fixtures, 'it is not a file', `Name the file itself, such as ${fixtures}/pipeline.ts.`],
  ])('%s', async (_, path, problem, hint) => {
    const error = await errorOf(path);
    expect(error).toMatchObject({
      code: 'ETL_PIPELINE_FILE',
      exit: 2,
      hint,
      details: { file: path, problem },
    });
  });
});
