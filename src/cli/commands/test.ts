// `etl test <pipeline>`: runs the data tests of a pipeline on production.

import { EtlError } from '../../core/errors/errors.ts';
import type { TestReport } from '../../tools/test-report.ts';
import { plural } from '../../core/wording.ts';
import { command } from '../command.ts';
import { databaseUrl, namesFlag, printing, params, pipelineArgument } from '../inputs.ts';
import { clip } from '../layout.ts';
import type { Paint } from '../paint.ts';
import { openPipeline } from '../pipeline.ts';
import { askAnyway } from '../server.ts';
import { testLines } from '../text/tests-text.ts';

const summary = ({ tests }: TestReport): string => {
  const count = (outcome: string): number => tests.filter((test) => test.outcome === outcome).length;
  return `${plural(tests.length, 'test')}: ${count('passed')} passed, ${count('warned')} warned, ${count('failed')} failed`;
};

const linesOf = (report: TestReport, paint: Paint): readonly string[] =>
  report.tests.length === 0
    ? ['no tests are declared']
    : [...testLines(report.tests, paint), '', summary(report)];

export const testCommand = command({
  name: 'test',
  summary: 'run the data tests of a pipeline on production',
  description: 'Runs the data tests on production, and shows rows that fail.',
  takes: {
    file: pipelineArgument,
    databaseUrl,
    params,
    tables: namesFlag('--table <tables>', 'tables to test (comma-separated); default: all'),
    ...printing('print every test as one line of JSON'),
  },
  help: `
Only reads, and can run at the same time as the pipeline. The role's statement_timeout applies.
Exit codes: 0 if no test failed, even if some warned; 4 if a test with severity error failed.

Examples:
  $ etl test pipelines/noaa.ts
  $ etl test pipelines/noaa.ts --table daily --json | jq 'select(.outcome == "warned")'`,
  async act(given) {
    const { tables } = given;
    const { pipeline, options } = await openPipeline(given);
    const { testsOf } = await import('../../tools/production-tests.ts');
    const { problemsOf } = await import('../../run/test-tables.ts');
    const report = await askAnyway(given, (client) => testsOf(pipeline, { ...options, tables }, client));
    const failed = report.tests.filter(({ outcome }) => outcome === 'failed');
    return {
      json: report.tests.map((test) => ({ type: 'test', ...test })),
      lines: ({ paint, width }) => linesOf(report, paint).map((line) => clip(line, width)),
      error:
        failed.length > 0
          ? new EtlError('ETL_TEST_FAILED', { state: '', problems: problemsOf(failed) })
          : undefined,
    };
  },
});
