// Gives files in production, and their records in the ledger, the files' new names.

import type { Query } from '../../db/sql.ts';
import { correctionKey } from '../rejects/corrections.ts';
import type { NewFile } from '../run/ledger.ts';
import { keyOf } from './published-files.ts';

export interface MovedFile extends Pick<
  NewFile,
  'table' | 'source' | 'location' | 'member' | 'name' | 'fingerprint'
> {
  readonly id: number;
}

/**
 * Renames files in production, in corrections and in earlier runs. Returns two statements, because
 * files may swap their names. Each statement returns a row per file in production.
 */
export const moveFiles = (
  pipeline: string,
  schema: string,
  moved: readonly MovedFile[],
): readonly Query[] => {
  const listed = `with moved as (
      select * from jsonb_to_recordset($3::jsonb) as m (id bigint, "table" text, source text, location text, member text, name text,
        fingerprint text, correction text)
    )`;
  const isMoved = 'p.pipeline = $1 and p.schema_name = $2 and p.table_name = m."table" and p.file_id = m.id';
  const isOfVersion = (file: string): string =>
    `${file}.source = p.source and ${file}.location = p.location and ${file}.member is not distinct from p.member
      and ${file}.fingerprint = p.fingerprint`;
  const files = moved.map((file) => ({ ...file, correction: correctionKey(file) }));
  const values = [pipeline, schema, JSON.stringify(files)];
  return [
    {
      text: `${listed}, corrections as (
          update etl.correction c
            set location = m.location, member = m.member, fingerprint = m.fingerprint, file_key = m.correction
            from moved m join etl.published_file p on ${isMoved}
            where c.pipeline = $1 and c.table_name = m."table" and ${isOfVersion('c')}
        ), sources as (
          update etl.source_file f set location = m.location, fingerprint = m.fingerprint
            from moved m join etl.published_file p on ${isMoved}
            where f.table_name = m."table" and ${isOfVersion('f')}
              and exists (select from etl.run u where u.id = f.run_id and u.pipeline = $1)
        )
        update etl.published_file p set file_key = p.file_key || '\\x00' from moved m where ${isMoved} returning 1`,
      values,
    },
    {
      text: `${listed}
        update etl.published_file p
          set location = m.location, member = m.member, name = m.name, fingerprint = m.fingerprint, file_key = ${keyOf('m')}
          from moved m where ${isMoved} returning 1`,
      values,
    },
  ];
};
