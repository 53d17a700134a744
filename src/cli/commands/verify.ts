// `etl verify <pipeline|run>`: counts files again with csv-parse, and compares them with production.

import { Argument, type Command } from 'commander';
import { EtlError } from '../../core/errors/errors.ts';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, parseNames, readFlag, readPairs, readSwitch } from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { loadPipeline } from '../pipeline.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { wrapUnder } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { differenceLines, verifyLines } from '../text/verify-text.ts';
import { visibleJson, asList } from '../../core/wording.ts';

const examples = `
The files are read in full by csv-parse and the column readers in JavaScript, not by the code that loaded them; the server adds up the
rows in production. It compares the number of records, rejects, filtered records and rows, and for each column the nulls,
the sum of numbers and a checksum. Files that are gone or have changed are listed, and not compared. It writes nothing, and can
run while the pipeline runs.
Exit codes: 0 if nothing differs, even if something was not compared; 4 if files and production differ.

Examples:
  $ etl verify pipelines/noaa.ts
  $ etl verify 12
  $ etl verify noaa --table daily --json | jq '.tables[].differences'`;

/** The pipeline of a run. Errors: ETL_RUN_UNKNOWN. */
const pipelineOfRun = async (run: number, command: Command, io: Io): Promise<string> => {
  const { findRun } = await import('../../ledger/history/history.ts');
  const found = await askServer(command, io, (client) => findRun(client, run));
  if (found === undefined) throw new EtlError('ETL_RUN_UNKNOWN', { run });
  return found.run.pipeline;
};

const verify = async (given: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const tables = readFlag(command, 'table', parseNames, io);
  const run = /^[1-9]\d{0,14}$/.test(given) ? Number(given) : undefined;
  const { pipeline, directory } = await loadPipeline(
    run === undefined ? given : await pipelineOfRun(run, command, io),
    io,
  );
  const { verifyOn } = await import('../../tools/verify/verify.ts');
  const { workingDirectory } = io;
  const options = { params, directory, workingDirectory, ...(tables && { tables }), ...(run && { run }) };
  const report =
    (await askServer(command, io, (client) => verifyOn(pipeline, options, client))) ??
    (await verifyOn(pipeline, options, undefined));
  const width = widthOf(io.stdout);
  const lines = json
    ? [visibleJson(report)]
    : verifyLines(report, paintFor(io.stdout, io.env)).flatMap((line) => wrapUnder(line, width, 2));
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (report.outcome !== 'different') return;
  throw new EtlError('ETL_VERIFY_DIFFERENT', { problems: asList(differenceLines(report)) });
};

export const verifyCommand: CliCommand = {
  name: 'verify',
  register(program, io) {
    program
      .command('verify')
      .summary('compare the files in production with its rows')
      .description('Reads the files again, independently, and shows where production differs from them.')
      .addArgument(
        new Argument(
          '<pipeline|run>',
          'pipeline, as a file or a name in pipelines/; or number of a run: only files that it has loaded',
        ),
      )
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--table <tables>', 'tables to verify (comma-separated); default: all'))
      .addOption(flag('--json', 'print the report as one line of JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((given: string, _, command: Command) => verify(given, command, io));
  },
};
