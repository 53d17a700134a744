// `etl test <pipeline>`: runs the data tests of a pipeline on production.

import type { Command } from 'commander';
import { EtlError } from '../../core/errors/errors.ts';
import type { TestReport } from '../../tools/test-report.ts';
import { plural, visibleJson } from '../../core/wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, parseNames, readFlag, readPairs, readSwitch } from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { clip } from '../layout.ts';
import { paintFor, type Paint } from '../paint.ts';
import { testLines } from '../text/tests-text.ts';

const examples = `
It only reads, and can run while the pipeline runs. The statement_timeout of the role applies.
Exit codes: 0 if no test failed, even if some warned; 4 if a test with severity error failed.

Examples:
  $ etl test pipelines/noaa.ts
  $ etl test pipelines/noaa.ts --table daily --json | jq 'select(.outcome == "warned")'`;

const summary = ({ tests }: TestReport): string => {
  const count = (outcome: string): number => tests.filter((test) => test.outcome === outcome).length;
  return `${plural(tests.length, 'test')}: ${count('passed')} passed, ${count('warned')} warned, ${count('failed')} failed`;
};

const linesOf = (report: TestReport, paint: Paint): readonly string[] =>
  report.tests.length === 0
    ? ['no tests are declared']
    : [...testLines(report.tests, paint), '', summary(report)];

const runTests = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const tables = readFlag(command, 'table', parseNames, io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { testsOf } = await import('../../tools/production-tests.ts');
  const { problemsOf } = await import('../../run/test-tables.ts');
  const options = { params, directory, ...(tables && { tables }) };
  const report =
    (await askServer(command, io, (client) => testsOf(pipeline, options, client))) ??
    (await testsOf(pipeline, options, undefined));
  const width = widthOf(io.stdout);
  const lines = json
    ? report.tests.map((test) => visibleJson({ type: 'test', ...test }))
    : linesOf(report, paintFor(io.stdout, io.env)).map((line) => clip(line, width));
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  const failed = report.tests.filter(({ outcome }) => outcome === 'failed');
  if (failed.length > 0) throw new EtlError('ETL_TEST_FAILED', { state: '', problems: problemsOf(failed) });
};

export const testCommand: CliCommand = {
  name: 'test',
  register(program, io) {
    program
      .command('test')
      .summary('run the data tests of a pipeline on production')
      .description('Runs the data tests on production, and shows rows that fail.')
      .addArgument(pipelineArgument())
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--table <tables>', 'tables to test (comma-separated); default: all'))
      .addOption(flag('--json', 'print every test as one line of JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => runTests(file, command, io));
  },
};
