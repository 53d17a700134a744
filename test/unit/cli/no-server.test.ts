// Commands that fail where no server was ever used: they set up none.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { useFiles } from '../../helpers/files.ts';
import { words } from '../../helpers/words.ts';
import { fakeIo } from './fake-io.ts';

const { directory } = useFiles();

it.each([
  ['cancel 1', 'ETL_USAGE: there is no server yet'],
  ['retry 1', 'ETL_USAGE: there is no server yet'],
  ['queue', 'ETL_USAGE: there is no server yet'],
  ['schedule pause nightly', 'ETL_USAGE: there is no server yet'],
  ['schedule run-now nightly', 'ETL_USAGE: there is no server yet'],
  ['worker --pipelines none', 'ETL_PIPELINE_FOLDER'],
  ['run none.ts', 'ETL_PIPELINE_FILE'],
  ['enqueue none.ts', 'ETL_PIPELINE_FILE'],
])('etl %s', async (command, problem) => {
  const io = fakeIo({ workingDirectory: directory });
  expect(await main(words(command), io)).toBe(2);
  expect(io.stderr.text).toContain(`error ${problem}`);
  expect(existsSync(join(directory, '.etl'))).toBe(false);
});
