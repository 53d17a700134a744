// A program: lists the files of a pattern, and says what it found. Root, whom no permission binds, becomes another user first;
// only now, so that the program's own files may be where that user cannot read them.
//
//   list-as.ts <pattern>

import { EtlError } from '../../src/core/errors/errors.ts';
import { listFiles } from '../../src/input/sources/list-files.ts';

const nobody = 65_534;
const [pattern = ''] = process.argv.slice(3);
if (process.getuid?.() === 0) {
  process.setgroups!([]);
  process.setgid!(nobody);
  process.setuid!(nobody);
}
const said = await listFiles({ table: 't', locations: [pattern], workingDirectory: process.cwd() }).then(
  (found) => found.map(({ name }) => name),
  (error: EtlError) => ({ code: error.code, message: error.message }),
);
console.log(JSON.stringify(said));
