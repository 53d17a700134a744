// How the files of a fuzzed load are written, and what their table declares. Nothing of the product is used.

import type { CsvOptions } from '../../src/pipeline/declare/csv.ts';
import { ownOfPlaces, type DialectPlan, type TableScene } from './fuzz-scene.ts';

/** How the files of a scene are written: the plan, without what cannot be together. */
export interface Writing extends Omit<DialectPlan, 'escape'> {
  readonly escape: 'quote' | 'backslash' | 'postgres' | 'mysql' | 'any';
  readonly lineEnd: 'lf' | 'crlf' | 'cr';
}

const lineEnds: Readonly<Record<string, Writing['lineEnd']>> = { '\n': 'lf', '\r\n': 'crlf', '\r': 'cr' };

/** What is left of a plan where COPY itself reads the fields. */
const verbatim = (plan: Writing): Writing => ({
  ...plan,
  delimiter: plan.delimiter === '||' || plan.delimiter === '§' ? ',' : plan.delimiter,
  escape: plan.escape === 'backslash' && plan.quote !== null ? 'backslash' : 'quote',
  quotes: 'strict',
  trim: false,
  nulls: [''],
  quotedNulls: false,
  isNewlineDeclared: false,
  match: 'exact',
  header: plan.header === 'none' ? 'list' : plan.header,
  ragged: 'reject',
});

export const writingOf = ({ dialect, encoding, staging }: TableScene): Writing => {
  const lineEnd = lineEnds[dialect.newline]!;
  const delimiter = encoding === 'shift_jis' && dialect.delimiter === '§' ? ',' : dialect.delimiter;
  const comments = dialect.comment === null ? 'lines' : dialect.comments;
  const headerLines = dialect.header === 'names' ? dialect.headerLines : 1;
  const plan = { ...dialect, delimiter, lineEnd, comments, headerLines } as const;
  const { escape } = dialect;
  if (staging === 'text') return verbatim(plan);
  if (escape === 'any') return { ...plan, quotes: 'strict', trim: false };
  if (escape === 'postgres' || escape === 'mysql') {
    const quote = escape === 'mysql' && dialect.quote === '"' ? '"' : null;
    return { ...plan, quote, quotes: 'strict', trim: false };
  }
  if (dialect.quote === null) return { ...plan, quotes: 'strict', escape: 'quote' };
  return plan;
};

/** A table as one of its files is written. */
export const sceneOf = (scene: TableScene, file: number): TableScene => {
  const { others } = scene;
  if (others === null || file === 0) return scene;
  const { dialect, encoding } = others[(file - 1) % others.length]!;
  const own = Object.fromEntries(ownOfPlaces.map((name) => [name, dialect[name]]));
  return { ...scene, dialect: { ...scene.dialect, ...own }, encoding };
};

/** A backslash escapes any character. */
export const hasEscapes = ({ escape }: Pick<Writing, 'escape'>): boolean =>
  escape !== 'quote' && escape !== 'backslash';

/** The name of a field, as columns have it: the lines of its header, above each other. */
export const fieldName = (place: number, { headerLines }: Writing): string =>
  [...linesAbove(place, headerLines), place === 0 ? 'id' : `c${place}`].filter(Boolean).join(' ');

/** What a header has above the last line of a field. */
const linesAbove = (place: number, headerLines: number): readonly string[] =>
  Array.from({ length: headerLines - 1 }, (_, line) => (place % 2 === 0 ? '' : `top${line}`));

/** As a relaxed reader knows it again. */
const spelled = (name: string, place: number, { match }: Writing): string => {
  if (match === 'exact' || name === '') return name;
  return [name.toUpperCase(), `${name[0]}_${name.slice(1)}`, `${name[0]} ${name.slice(1)}`][place % 3]!;
};

/** The lines of the header. */
export const headerOf = (scene: TableScene, writing: Writing): readonly (readonly string[])[] => {
  const names = ['id', ...scene.kinds.map((_, index) => `c${index + 1}`)];
  const columns = names.map((name, place) => [...linesAbove(place, writing.headerLines), name]);
  return Array.from({ length: writing.headerLines }, (_, line) =>
    columns.map((column, place) => spelled(column[line]!, place, writing)),
  );
};

/** What the place of a file declares: also what is by default, because csv() may say otherwise. */
export const ownOptionsOf = (scene: TableScene, writing: Writing): CsvOptions => {
  const { quote, escape } = writing;
  const { header: _, match: __, headerLines: ___, ...own } = optionsOf(scene, writing);
  return {
    escapes: null,
    escape: escape === 'backslash' ? '\\' : quote,
    lineEnd: 'auto',
    quotedNulls: true,
    ...own,
  };
};

/** What the table declares. */
export const optionsOf = (scene: TableScene, writing: Writing): CsvOptions => {
  const { delimiter, quote, escape, quotes, trim, nulls, comment, comments, skipLines, skipEnd } = writing;
  return {
    delimiter,
    quote,
    ...(hasEscapes(writing) ? { escapes: escape as never } : {}),
    nulls,
    ...(quote === null ? {} : { quotedNulls: writing.quotedNulls }),
    ...(escape === 'backslash' ? { escape: '\\' } : {}),
    quotes,
    trim,
    comment,
    comments,
    skipLines,
    skipEnd,
    ragged: writing.ragged,
    match: writing.match,
    headerLines: writing.headerLines,
    ...(writing.isNewlineDeclared ? { lineEnd: writing.lineEnd } : {}),
    header: { names: true, none: false, list: headerOf(scene, writing)[0]! }[writing.header],
    encoding:
      { 'utf-8 with mark': 'utf-8', 'utf-16 by mark': 'detect' }[scene.encoding as string] ?? scene.encoding,
  };
};

/** The constant of a file. */
export const constantOf = ({ constants }: TableScene, file: number): string | undefined =>
  constants?.[file % constants.length];
