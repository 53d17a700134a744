// PostgreSQL truncates no name that we derive from the longest allowed names.

import { describe, expect, it } from 'vitest';
import { stagingName } from '../../../src/db/staging.ts';
import { identifierBytesMax } from '../../../src/core/limits.ts';
import { pipelineNameProblem, tableNameProblem } from '../../../src/pipeline/names.ts';
import { buildSchema } from '../../../src/db/names.ts';

/** Returns the longest allowed name. */
const longest = (problemOf: (name: string) => string | undefined): string => {
  let name = 'n';
  while (problemOf(`${name}n`) === undefined) name += 'n';
  return name;
};

describe('a name that is derived from others', () => {
  it('is short enough: the build schema of a pipeline', () => {
    const name = longest(pipelineNameProblem);
    expect(buildSchema(name)).toHaveLength(identifierBytesMax);
    expect(pipelineNameProblem(`${name}n`)).toBe(
      `\`${name}n\` is too long: its build schema \`etl_build_${name}n\` would be 64 bytes long, and PostgreSQL cuts names at 63; shorten it`,
    );
  });

  it('is unique: no two pipelines share a staging table', () => {
    expect(stagingName('a_', 'b')).toBe(stagingName('a', '_b'));
    expect(pipelineNameProblem('a_')).toContain('ends in _');
  });

  it('is short enough: a staging table, whatever the pipeline is called', () => {
    for (const pipeline of ['p', longest(pipelineNameProblem)]) {
      const table = longest((name) => tableNameProblem(name, pipeline));
      expect(stagingName(pipeline, table)).toHaveLength(identifierBytesMax);
    }
  });
});
