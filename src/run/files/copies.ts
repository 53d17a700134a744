// Refuses a file whose records are loaded already under another file name.
//
// Files are compared by what their source knows without reading them whole: for local files, the
// size and both ends. After compression or decompression, a file is recognized by its name. Proved
// by test/modes/moved-files.test.ts, "a copy" and "compressed".

import {
  knownVersions,
  otherPipelines,
  versionsLike,
  type FilesOf,
  type PublishedFile,
} from '../../ledger/production/published-files.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { MovedFile } from '../../ledger/production/moved-files.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { isOfPath, neededFields } from '../../format/rows/header-check.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import type { Work } from '../context.ts';
import type { PlannedTable } from './planned-table.ts';
import { CountedFiles } from './counted.ts';
import type { Basis, Intake, Judging } from './sieve.ts';

/**
 * Returns a text that copies have in common; undefined: the source cannot tell. A member is a copy
 * only if its archive is a copy.
 */
const contentOf = ({
  source,
  member,
  fingerprint,
}: Pick<NewFile, 'source' | 'member' | 'fingerprint'>): string | undefined => {
  const content = sourceNamed(source).contentOf?.(fingerprint);
  return content === undefined ? undefined : JSON.stringify([source, member, content]);
};

const hasRecords = ({ bytes, dataByte, dataEnd }: NewFile): boolean => (dataEnd ?? bytes) > dataByte;

/** Leaves out files whose rows depend on path or constants: equal contents make different rows. */
const withoutPlace = ({ columns, filter }: SourceTableSpec, files: readonly NewFile[]): readonly NewFile[] =>
  neededFields(columns, filter).some(isOfPath)
    ? []
    : files.filter(({ constants }) => Object.keys(constants).length === 0);

const compressed = /\.(?:gz|zst|br)$/;

/** Returns the locations that a file may have had before it was compressed or decompressed. */
const otherForms = ({ location }: NewFile): readonly string[] =>
  compressed.test(location)
    ? [location.replace(compressed, '')]
    : ['.gz', '.zst', '.br'].map((ending) => location + ending);

/** Finds the published version of files that were compressed or decompressed since. */
const otherFormsOf = async (
  client: Judging['client'],
  of: FilesOf,
  files: readonly NewFile[],
): Promise<ReadonlyMap<NewFile, PublishedFile>> => {
  const asked = files.flatMap((file) =>
    [file.location, ...otherForms(file)].map((location) => ({ file, own: file.location, location })),
  );
  const known = await knownVersions(
    client,
    of,
    asked.map(({ file, location }) => ({ ...file, location })),
  );
  const found = known.map((version) => ({ ...asked[version.place]!, version }));
  const old = new Set(found.flatMap(({ file, own, location }) => (own === location ? [file] : [])));
  return new Map(found.flatMap(({ file, version }) => (old.has(file) ? [] : [[file, version]])));
};

interface Loading {
  readonly table: SourceTableSpec;
  readonly files: readonly NewFile[];
  readonly intake: Pick<Intake, 'extent' | 'outgoing'> & {
    readonly moved: readonly Pick<MovedFile, 'id' | 'name'>[];
    readonly basis?: Pick<Basis, 'listed'>;
  };
}

/**
 * Returns the other pipelines that append to this table: only the ledger shows which files they
 * loaded.
 */
const appending = async (
  client: Judging['client'],
  of: FilesOf,
  { table, files, intake }: Loading,
): Promise<readonly string[]> =>
  meaningOf(table.publish).refusesTwice === true && intake.extent === 'part' && files.length > 0
    ? otherPipelines(client, of)
    : [];

export const findCopies = async (
  client: Judging['client'],
  of: FilesOf,
  loading: Loading,
  others?: readonly string[],
): Promise<ReadonlyMap<NewFile, string>> => {
  const { table, files, intake } = loading;
  const copies = new Map<NewFile, string>();
  const filled = files.filter(hasRecords);
  if (table.copies === 'load' || filled.length === 0) return copies;
  const { extent, outgoing, basis } = intake;
  const leaving = new Set([...outgoing.files, ...(outgoing.superseded ?? [])]);
  const staying = outgoing.stays && new Set(outgoing.stays);
  const stays = ({ id, rows }: PublishedFile): boolean =>
    rows > 0 && !leaving.has(id) && (staying === undefined || staying.has(id));
  const renamed = new Map(intake.moved.map(({ id, name }) => [id, name]));
  const listed = basis && new Set(basis.listed);
  const comparable = withoutPlace(table, filled);
  const known = new Map<string | undefined, string>();
  const filling = [of.pipeline, ...(others ?? (await appending(client, of, loading)))];
  for (const pipeline of extent === 'whole' ? [] : filling) {
    const whose = pipeline === of.pipeline ? '' : ` by pipeline ${pipeline}`;
    const textOf = ({ id, name }: PublishedFile): string => {
      const isGone = whose === '' && listed?.has(id) === false;
      const now = isGone
        ? 'is no longer listed, and whose rows are in production'
        : `is in production${whose}`;
      return `${renamed.get(id) ?? name}, which ${now}`;
    };
    const theirs = { ...of, pipeline };
    for (const file of (await versionsLike(client, theirs, comparable)).filter(stays))
      known.set(contentOf(file), textOf(file));
    for (const [file, version] of await otherFormsOf(client, theirs, filled))
      if (stays(version) && !renamed.has(version.id))
        copies.set(file, `${textOf(version)} (same name, other compression)`);
  }
  for (const file of comparable) {
    const content = contentOf(file);
    if (content === undefined) continue;
    const first = known.get(content);
    if (first === undefined) known.set(content, file.name);
    else copies.set(file, first);
  }
  return copies;
};

const refuseTwice = async (
  client: Judging['client'],
  of: FilesOf,
  files: readonly NewFile[],
  others: readonly string[],
): Promise<void> => {
  if (others.length === 0) return;
  // This pipeline's own version of a file is replaced, so it is not a duplicate.
  const own = new Set((await knownVersions(client, of, files)).map(({ place }) => place));
  const added = files.filter((_, place) => !own.has(place));
  for (const pipeline of others) {
    const known = await knownVersions(client, { ...of, pipeline }, added);
    const there = known.find(({ isUnloaded }) => !isUnloaded);
    if (there !== undefined)
      throw new EtlError('ETL_FILE_TWICE', { table: of.table, file: there.name, pipeline });
  }
};

/** Errors: ETL_FILE_TWICE, ETL_FILE_COPY. */
export const refuseCopies = async ({ client, spec }: Work, planned: PlannedTable): Promise<void> => {
  const of: FilesOf = { pipeline: spec.name, schema: spec.schema, table: planned.table.name };
  const others = await appending(client, of, planned);
  await refuseTwice(client, of, planned.files, others);
  const copies = await findCopies(client, of, planned, others);
  if (copies.size === 0) return;
  const copied = new CountedFiles();
  for (const [{ name }, original] of copies) copied.add(`${name} of ${original}`);
  throw new EtlError('ETL_FILE_COPY', { table: planned.table.name, files: copied.text() });
};
