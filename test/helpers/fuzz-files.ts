// The files of a fuzzed table as bytes, whole and damaged, and the columns that read them.

import { column, present } from '../../src/index.ts';
import { fileForms, plainForm } from './file-forms.ts';
import { damaged, encoded, writeFile, writingOf, type Writing } from './fuzz-model.ts';
import type { Kind, TableScene } from './fuzz-scene.ts';

const columnOf = (kind: Kind, ref: string | number) =>
  kind === 'numeric' ? column.numeric(ref, { precision: 12, scale: 2 }) : column[kind](ref);

/** The columns of a table, by name or by position, and its filter. */
export const fieldsOf = ({ kinds }: TableScene, { header }: Writing) => {
  const refOf = (position: number, field: string): string | number => (header === 'none' ? position : field);
  const columns = kinds.map((kind, index) => [
    `c${index + 1}`,
    columnOf(kind, refOf(index + 2, `c${index + 1}`)).nullable(),
  ]);
  return {
    columns: { id: column.integer(refOf(1, 'id')), ...Object.fromEntries(columns) },
    filter: present(refOf(1, 'id')),
  };
};

/** A table of a load, as it is written, and what its files come to. */
export const prepare = (scene: TableScene, index: number) => {
  const writing = writingOf(scene);
  const made = Array.from({ length: scene.files }, (_, file) => writeFile(scene, writing, file));
  const contents = made.map(({ text }, file) => {
    const bytes = encoded(text, scene.encoding);
    return scene.damage?.of === 'content' && file === 0 ? damaged(bytes, scene.damage.edits) : bytes;
  });
  const form = fileForms.find(({ name }) => name === scene.form)!;
  const packed = contents.map((content) => form.pack(content));
  const isBroken = scene.damage?.of === 'packed' && form !== plainForm;
  const broken = isBroken ? [damaged(packed[0]!, scene.damage!.edits), ...packed.slice(1)] : undefined;
  const expected = {
    rows: made.flatMap(({ expected: { rows } }) => rows),
    rejects: made.flatMap(({ expected: { rejects } }, ordinal) =>
      rejects.map((one) => ({ ordinal, ...one })),
    ),
    records: made.reduce((sum, { expected: { records } }) => sum + records, 0),
  };
  return { scene, name: `t${index}`, writing, made, contents, form, packed, broken, expected };
};
export type Prepared = ReturnType<typeof prepare>;
