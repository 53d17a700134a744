// Refuses files that are copies of others, under another name: their records would be loaded a second time.
//
// Two files are compared by what their source knows without reading them whole; for local files the size and both ends. Proved by
// test/modes/moved-files.test.ts, "a copy".

import {
  otherPipelines,
  versionsLike,
  type FilesOf,
  type PublishedFile,
} from '../../checkpoint/published-files.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import { EtlError } from '../../errors.ts';
import { isOfPath, neededFields } from '../../format/header-check.ts';
import { modeOf } from '../../publish/tables.ts';
import { sourceNamed } from '../../source/registry.ts';
import type { PlannedTable } from './planned-table.ts';
import { Tally, type Judging } from './sieve.ts';

/** What two copies have in common, a member of an archive together with the archive; undefined: the source cannot say. */
const contentOf = ({
  source,
  member,
  fingerprint,
}: Pick<NewFile, 'source' | 'member' | 'fingerprint'>): string | undefined => {
  const content = sourceNamed(source).contentOf?.(fingerprint);
  return content === undefined ? undefined : JSON.stringify([source, member, content]);
};

/** Whether records of a copy would be the same: there are some, and no constant says where they are from. */
const isComparable = ({ bytes, dataByte, dataEnd, constants }: NewFile): boolean =>
  (dataEnd ?? bytes) > dataByte && Object.keys(constants).length === 0;

/** A column may be made of the file's path: equal contents then are different records. */
const saysItsPath = ({ table: { columns, filter } }: PlannedTable): boolean =>
  neededFields(columns, filter).some(isOfPath);

/** Refuses files of a run whose content is that of another file, of the run or in production. Errors: ETL_FILE_COPY. */
export const refuseCopies = async (
  { client, spec }: Pick<Judging, 'client' | 'spec'>,
  planned: PlannedTable,
): Promise<void> => {
  const { table, intake } = planned;
  const files = planned.files.filter(isComparable);
  if (table.copies === 'load' || files.length === 0 || saysItsPath(planned)) return;
  const { extent, outgoing } = intake;
  const of: FilesOf = { pipeline: spec.name, schema: spec.schema, table: table.name };
  const leaving = new Set(outgoing.files);
  const staying = outgoing.stays && new Set(outgoing.stays);
  const stays = ({ id, rows }: PublishedFile): boolean =>
    rows > 0 && !leaving.has(id) && (staying === undefined || staying.has(id));
  // Only of appended rows nothing else tells whether they are there already.
  const others = modeOf(table.publish) === 'append' ? await otherPipelines(client, of) : [];
  const renamed = new Map(intake.moved.map(({ id, name }) => [id, name]));
  const known = new Map<string | undefined, string>();
  for (const pipeline of extent === 'whole' ? [] : [spec.name, ...others]) {
    const whose = pipeline === spec.name ? '' : ` by pipeline ${pipeline}`;
    for (const file of (await versionsLike(client, { ...of, pipeline }, files)).filter(stays))
      known.set(contentOf(file), `${renamed.get(file.id) ?? file.name}, which is in production${whose}`);
  }
  const copies = new Tally();
  for (const file of files) {
    const content = contentOf(file);
    if (content === undefined) continue;
    const first = known.get(content);
    if (first === undefined) known.set(content, file.name);
    else copies.add(`${file.name} of ${first}`);
  }
  if (copies.count > 0) throw new EtlError('ETL_FILE_COPY', { table: table.name, files: copies.text() });
};
