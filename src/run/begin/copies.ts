// Finds files that are probably copies of others, under another name: their records would be loaded a second time.
//
// A file is known by its place, so a copy of it is a new file. That may be meant, and only a notice is given. Proved by
// test/modes/plan-is-run.test.ts, "a copy of a file that is in production".

import { filesOfSizes, type FilesOf, type StoredContent } from '../../checkpoint/published-files.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import { neededFields } from '../../format/header-check.ts';
import { sourceNamed } from '../../source/registry.ts';
import type { PlannedTable } from './planned-table.ts';
import { Tally, type Judging } from './sieve.ts';

/** What two copies have in common; undefined: the source cannot say, or there is nothing but a header. */
const contentOf = ({ source, member, fingerprint }: StoredContent): string | undefined => {
  const content = member === null ? sourceNamed(source).contentOf?.(fingerprint) : undefined;
  return content === undefined ? undefined : `${source} ${content}`;
};

/** Whether records of a copy would be the same: there are some, and no constant says where they are from. */
const isComparable = ({ bytes, dataByte, dataEnd, constants }: NewFile): boolean =>
  (dataEnd ?? bytes) > dataByte && Object.keys(constants).length === 0;

/** A column may be made of the file's path: equal contents then are different records. */
const saysItsPath = ({ table: { columns, filter } }: PlannedTable): boolean =>
  neededFields(columns, filter).some((field) => typeof field === 'object' && 'path' in field);

/** Of files that a run loads, those whose content is that of another one, of the run or in production. */
export const reportCopies = async (
  { client, spec, report }: Pick<Judging, 'client' | 'spec' | 'report'>,
  planned: PlannedTable,
): Promise<void> => {
  const { table, intake } = planned;
  const files = planned.files.filter(isComparable);
  if (files.length === 0 || saysItsPath(planned)) return;
  const { extent, outgoing } = intake;
  const of: FilesOf = { pipeline: spec.name, schema: spec.schema, table: table.name };
  const sizes = [...new Set(files.map(({ bytes }) => bytes))];
  const there = extent === 'whole' ? [] : await filesOfSizes(client, of, sizes, outgoing);
  const known = new Map(there.map((file) => [contentOf(file), file]));
  const copies = new Tally();
  for (const file of files) {
    const content = contentOf(file);
    const first = known.get(content);
    if (content === undefined) continue;
    if (first === undefined) known.set(content, file);
    else if (first.location !== file.location) copies.add(`${file.name} of ${first.name}`);
  }
  if (copies.count === 0) return;
  const message = `${table.name}: probably copies, with the same size, beginning and end, so that records are loaded twice: ${copies.text()}`;
  report.emit({ type: 'notice', message });
};
