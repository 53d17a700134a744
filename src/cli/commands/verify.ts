// `etl verify <pipeline|run>`: reads files again with csv-parse, and compares them with production.

import { EtlError, exitCodes } from '../../core/errors/errors.ts';
import type { VerifyReport } from '../../tools/verify/report.ts';
import { command, EndWith } from '../command.ts';
import { argument, databaseUrl, namesFlag, printing, params, toggle } from '../inputs.ts';
import { openPipeline } from '../pipeline.ts';
import { askAnyway } from '../server.ts';
import { wrapUnder } from '../layout.ts';
import { differenceLines, verifyLines } from '../text/verify-text.ts';
import { asList, plural } from '../../core/wording.ts';
import { askForRun } from './runs.ts';

const errorOf = (report: VerifyReport, isStrict: boolean): Error | undefined => {
  if (report.outcome === 'different')
    return new EtlError('ETL_VERIFY_DIFFERENT', { problems: asList(differenceLines(report)) });
  if (report.outcome !== 'same') return new EndWith(exitCodes.changes);
  const losses = report.tables.reduce((sum, table) => sum + table.losses.length, 0);
  return isStrict && losses > 0 ? new EtlError('ETL_LOSS', { losses: plural(losses, 'place') }) : undefined;
};

export const verifyCommand = command({
  name: 'verify',
  summary: 'compare the files in production with its rows',
  description: 'Reads the files again, independently, and shows where production differs from them.',
  takes: {
    named: argument(
      '<pipeline|run>',
      'pipeline (file or name in pipelines/), or number of a run: only files that this run loaded',
    ),
    databaseUrl,
    params,
    tables: namesFlag('--table <tables>', 'tables to verify (comma-separated); default: all'),
    strict: toggle('--strict', 'exit code 5 if a type, null token or `trim` loses a character of the files'),
    ...printing('print the report as one line of JSON'),
  },
  help: `
Reads the files in full with csv-parse and the column readers in JavaScript, not with the code that loaded them; the server sums
the rows of production. Compares the numbers of records, rejects, filtered records and rows, and for each column the nulls, the
sum of numbers and a checksum. Files that were deleted or changed are only listed. A line that begins with ! says what the pipeline
changes in the texts of a column, as declared, with an example. Writes nothing, and can run at the same time as the pipeline.
Exit codes: 0 if nothing differs, even if something was not compared; 4 if files and production differ; 5 if no rows were
compared at all, or with --strict if a line begins with !.

Examples:
  $ etl verify pipelines/noaa.ts
  $ etl verify 12
  $ etl verify noaa --table daily --json | jq '.tables[].differences'`,
  async act(given) {
    const { named, strict, tables } = given;
    const run = /^[1-9]\d{0,14}$/.test(named) ? Number(named) : undefined;
    const file = run === undefined ? named : (await askForRun(run, given)).run.pipeline;
    const { pipeline, options } = await openPipeline({ ...given, file });
    const { verifyOn } = await import('../../tools/verify/verify.ts');
    const report = await askAnyway(given, (client) =>
      verifyOn(pipeline, { ...options, tables, run }, client),
    );
    return {
      json: [report],
      lines: ({ paint, width }) => verifyLines(report, paint).flatMap((line) => wrapUnder(line, width, 2)),
      error: errorOf(report, strict),
    };
  },
});
