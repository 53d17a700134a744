// Reads the beginning of a decoded file: is it CSV, in which encoding, and with which header?

import type { FormatSpec } from '../../core/declaration.ts';
import { markedEncoding } from '../../input/encodings/marks.ts';
import { containerOf, decodingOf } from '../../input/decode/registry.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { contentBytes, otherContent } from '../../format/records/content.ts';
import { readHeader, type FileHeader, type HeaderFile } from '../../format/records/header.ts';
import type { Access } from '../../input/sources/contract.ts';
import { withBytes, type InputFile } from '../../input/input.ts';

/**
 * Refuses an empty file, and one that is packed twice. `head` is decompressed. Errors:
 * ETL_SOURCE_EMPTY, ETL_SOURCE_FORMAT.
 */
export const refuseContent = (head: Buffer, { table, file }: HeaderFile): void => {
  if (head.length === 0) throw new EtlError('ETL_SOURCE_EMPTY', { table, file });
  const again = decodingOf(head) ?? containerOf(head);
  const refused =
    again === undefined
      ? otherContent(head)
      : { problem: `is compressed twice (${again.name})`, hint: 'Decompress it once.' };
  if (refused !== undefined) throw new EtlError('ETL_SOURCE_FORMAT', { table, file, ...refused });
};

/** For 'detect', the byte order mark decides. Otherwise the mark of another encoding is refused. */
const encodingOf = (head: Buffer, declared: string, named: HeaderFile): string => {
  const marked = markedEncoding(head);
  if (declared === 'detect') return marked ?? 'utf-8';
  if (marked === undefined || marked === declared) return declared;
  const problem = `begins with the byte order mark of ${marked.toUpperCase()}, and is declared as ${declared.toUpperCase()}`;
  const hint = `Declare encoding: '${marked}' in csv(…) or for its location, or 'detect' where files differ.`;
  throw new EtlError('ETL_SOURCE_FORMAT', { ...named, problem, hint });
};

export type UnreadFile = Omit<InputFile, 'encoding'>;

export const readHead = async (
  file: UnreadFile,
  { encoding: declared, dialect }: FormatSpec,
  access: Access,
  positions: number,
): Promise<{ readonly encoding: string; readonly header: FileHeader }> => {
  const named = { table: file.table, file: file.name };
  const plain = { ...file, encoding: 'utf-8' };
  const first = await withBytes(plain, access, async (read) => {
    const head = await read(0, contentBytes);
    refuseContent(head, named);
    const encoding = encodingOf(head, declared, named);
    return encoding === 'utf-8'
      ? { encoding, header: await readHeader(read, dialect, named, positions) }
      : { encoding };
  });
  if (first.header !== undefined) return first;
  const header = await withBytes({ ...plain, ...first }, access, (read) =>
    readHeader(read, dialect, named, positions),
  );
  return { encoding: first.encoding, header };
};
