// The files of a fuzzed table as bytes, whole and damaged, and the columns that read them.

import { column, csv, present, sqlFile } from 'sluice';
import type { CsvOptions } from '../../src/pipeline/declare/csv.ts';
import { fileForms, plainForm } from './file-forms.ts';
import { damaged, encoded, writeFile } from './fuzz-model.ts';
import type { Kind, TableScene } from './fuzz-scene.ts';
import {
  constantOf,
  fieldName,
  optionsOf,
  ownOptionsOf,
  sceneOf,
  writingOf,
  type Writing,
} from './fuzz-writing.ts';

const columnOf = (kind: Kind, ref: string | number) =>
  kind === 'numeric' ? column.numeric(ref, { precision: 12, scale: 2 }) : column[kind](ref);

/** The columns of a table, by name or by position, and its filter. */
const fieldsOf = (scene: TableScene, writing: Writing) => {
  const { kinds, constants } = scene;
  const refOf = (place: number): string | number =>
    writing.header === 'none' ? place + 1 : fieldName(place, writing);
  const columns = kinds.map((kind, index) => [`c${index + 1}`, columnOf(kind, refOf(index + 1)).nullable()]);
  if (constants !== null) columns.push([`c${kinds.length + 1}`, column.text('region').nullable()]);
  return {
    columns: { id: column.integer(refOf(0)), ...Object.fromEntries(columns) },
    filter: present(refOf(0)),
  };
};

/** How many columns production has beside the id. */
export const columnsIn = ({ kinds, constants }: TableScene): number =>
  kinds.length + (constants === null ? 0 : 1);

/** The locations of a table's files, with what is true of each alone. */
const located = (scene: TableScene, locations: readonly string[]) =>
  locations.map((path, file) => {
    const constant = constantOf(scene, file);
    const own = sceneOf(scene, file);
    const options = own === scene ? {} : ownOptionsOf(own, writingOf(own));
    if (own === scene && constant === undefined) return path;
    return { path, ...options, ...(constant === undefined ? {} : { constants: { region: constant } }) };
  });

/** The SQL that makes the rows of a table whose fields come as they are. */
export const rowsSql = ({ scene, name, writing }: Prepared): string => {
  const columns = scene.kinds.map((_, index) => `"${fieldName(index + 1, writing)}" as c${index + 1}`);
  return `select id::integer, ${columns.join(', ')} from ${name}_staging`;
};

/** Declares a table; `sql` is where its SQL is, when its fields come as they are. */
export const tableAt = (
  scene: TableScene,
  locations: readonly string[],
  sql: string,
  more: Partial<CsvOptions> = {},
) => {
  const writing = writingOf(scene);
  const source = csv(located(scene, locations), { ...optionsOf(scene, writing), ...more });
  const { staging } = scene;
  return staging === 'text'
    ? { source, staging, transform: sqlFile(sql), copies: 'load', rejectLimit: 1_000_000 }
    : { source, staging, ...fieldsOf(scene, writing), copies: 'load', rejectLimit: 1_000_000 };
};

/** A table of a load, as it is written, and what its files come to. */
export const prepare = (scene: TableScene, index: number) => {
  const writing = writingOf(scene);
  const made = Array.from({ length: scene.files }, (_, file) => {
    const own = sceneOf(scene, file);
    return writeFile(own, writingOf(own), file);
  });
  const contents = made.map(({ text }, file) => {
    const bytes = encoded(text, sceneOf(scene, file).encoding);
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
