// The modes of the simulation of nights: how each is declared, what may happen to its files, and what production must be then.
//
// A new mode is one object in this list. Its model is a plain program over the files of the directory, and shares nothing with src/.

import type { FileEvent, Listed, Sale } from './nights-feed.ts';

/** What a night must come to: the rows of production, or the code of the error that leaves it as it was. */
export type Night = { readonly sales: readonly Sale[] } | { readonly refused: string };

export type Dependents = 'none' | 'views' | 'all';

export interface NightMode {
  /** Pipeline and schema have this name. */
  readonly name: string;
  /** Options of the table `sale`, in TypeScript. */
  readonly options: string;
  readonly key: readonly string[];
  /** The key of its rows, if that is another. */
  readonly ownKey?: readonly string[];
  /** Columns beside those of all modes, in TypeScript. */
  readonly columns?: string;
  /** SQL of `valid` of its rows. */
  readonly valid?: string;
  /** What may happen to its files in a night, beside a new one. */
  readonly events: readonly FileEvent[];
  /** A view, a grant and an index made by hand, or with them also a foreign key of another table, which keeps the rows. */
  readonly dependents: Dependents;
  /** The derived table is merged, too: its SQL makes only the days that a night touches. */
  readonly isTotalMerged?: boolean;
  /** Whether somebody has to add a declared column to the table before a run takes it. */
  readonly needsDdl: boolean;
  /** Another pipeline fills the same tables, at the same time: nights-rival.ts. */
  readonly hasRival?: boolean;
  /** Begins with no file; each call is one night, in which these files are listed. */
  readonly model: () => (listed: Listed) => Night;
}

const allOf = (files: Listed): readonly Sale[] => [...files.values()].flat();

/** Unless a file came twice. */
const onceEach = (sales: readonly Sale[], code: string): Night =>
  new Set(sales.map(({ seq, day }) => `${seq} ${day}`)).size < sales.length ? { refused: code } : { sales };

/** Gives files that were renamed after they were loaded their new names. `rowsOf`: what was loaded of a file, as JSON. */
const follow = <Had>(loaded: Map<string, Had>, listed: Listed, rowsOf: (had: Had) => string): void => {
  for (const [name, sales] of listed) {
    if (loaded.has(name) || !name.startsWith('moved-')) continue;
    const first = name.replace(/^moved-\d+-/, '');
    const had = loaded.get(first);
    if (had === undefined || listed.has(first) || rowsOf(had) !== JSON.stringify(sales)) continue;
    loaded.set(name, had);
    loaded.delete(first);
  }
};

/** Of files of which only some come, change and go: the rows that each had when it was last loaded. */
const appended =
  (changed: 'error' | 'reload' | 'ignore', gone: 'keep' | 'unload'): NightMode['model'] =>
  () => {
    let loaded = new Map<string, readonly Sale[]>();
    return (listed) => {
      follow(loaded, listed, JSON.stringify);
      const isChanged = (name: string): boolean =>
        loaded.has(name) && JSON.stringify(loaded.get(name)) !== JSON.stringify(listed.get(name));
      if (changed === 'error' && [...listed.keys()].some(isChanged)) return { refused: 'ETL_FILE_CHANGED' };
      const after = new Map(loaded);
      for (const [name, sales] of listed)
        if (!after.has(name) || changed === 'reload') after.set(name, sales);
      if (gone === 'unload') for (const name of loaded.keys()) if (!listed.has(name)) after.delete(name);
      const night = onceEach(allOf(after), 'ETL_DUPLICATE_ROWS');
      if ('sales' in night) loaded = after;
      return night;
    };
  };

type Version = Sale & { readonly valid: readonly [number, number | null] };

const withoutTime = (sale: Sale): string => JSON.stringify({ ...sale, valid: undefined });

/** Versions of one key, of records at their times: null ends a version. Those that change nothing are forgotten. */
const versionsOf = (events: ReadonlyMap<number, Sale | null>): readonly Version[] => {
  const versions: Version[] = [];
  for (const [at, sale] of [...events].toSorted(([one], [other]) => one - other)) {
    const last = versions.at(-1);
    const isValid = last !== undefined && last.valid[1] === null;
    if (isValid && sale !== null && withoutTime(last) === withoutTime(sale)) continue;
    if (isValid) versions.splice(-1, 1, { ...last, valid: [last.valid[0], at] });
    if (sale !== null) versions.push({ ...sale, valid: [at, null] });
  }
  return versions;
};

/** By key and time: the records of a night go between the versions that are there. */
const versioned: NightMode['model'] = () => {
  const loaded = new Map<string, string>();
  const keys = new Map<number, readonly Version[]>();
  return (listed) => {
    follow(loaded, listed, String);
    const news = new Map<number, Map<number, Sale | null>>();
    for (const [name, sales] of listed) {
      if (loaded.get(name) === JSON.stringify(sales)) continue;
      loaded.set(name, JSON.stringify(sales));
      for (const sale of sales) {
        if (!news.has(sale.id)) news.set(sale.id, new Map());
        news.get(sale.id)!.set(sale.at, sale.gone ? null : sale);
      }
    }
    for (const [id, own] of news) {
      const before = keys.get(id) ?? [];
      const events = new Map<number, Sale | null>();
      for (const { valid } of before) if (valid[1] !== null) events.set(valid[1], null);
      for (const version of before) events.set(version.valid[0], version);
      for (const [at, sale] of own) events.set(at, sale);
      keys.set(id, versionsOf(events));
    }
    return { sales: [...keys.values()].flat() };
  };
};

const every: readonly FileEvent[] = ['late', 'change', 'vanish', 'return', 'rename', 'empty', 'twin'];

/** `append` is given its options as they are declared. */
const appends = (
  name: string,
  changed: 'error' | 'reload' | 'ignore',
  gone: 'keep' | 'unload',
  dependents: Dependents,
): NightMode => ({
  name,
  // Where it does not evolve, somebody adds the column.
  options: `publish: { mode: 'append', changed: '${changed}', gone: '${gone}' }, evolve: '${dependents === 'all' ? 'add' : 'refuse'}'`,
  key: ['seq'],
  // A file that has changed since it was loaded, and is renamed, is a new one: its rows would be there twice.
  events: changed === 'ignore' ? every.filter((event) => event !== 'rename') : every,
  dependents,
  needsDdl: dependents !== 'all',
  model: appended(changed, gone),
});

const replaces = (name: string, dependents: Dependents): NightMode => ({
  name,
  options: `publish: 'replace'`,
  key: ['seq'],
  events: every,
  dependents,
  needsDdl: dependents !== 'none',
  model: () => (listed) => onceEach(allOf(listed), 'ETL_DUPLICATE_KEY'),
});

const monthOf = ({ day }: Sale): string => day.slice(0, '2024-01'.length);

/** The months that rows of new and changed files belong to, or have belonged to, have the rows of listed files; the others stay. */
const touchedMonths: NightMode['model'] = () => {
  /** Of each file that has rows in production, or had none to bring: all its rows, and those that are there. */
  let loaded = new Map<string, { readonly all: readonly Sale[]; readonly there: readonly Sale[] }>();
  return (listed) => {
    follow(loaded, listed, ({ all }) => JSON.stringify(all));
    const news = [...listed].filter(([name, sales]) => {
      const known = loaded.get(name);
      return (
        known === undefined ||
        known.there.length < known.all.length ||
        JSON.stringify(known.all) !== JSON.stringify(sales)
      );
    });
    const months = new Set(
      news.flatMap(([name, sales]) => [...sales, ...(loaded.get(name)?.there ?? [])]).map(monthOf),
    );
    const after: typeof loaded = new Map(
      [...loaded].map(([name, { all, there }]) => [
        name,
        { all, there: there.filter((sale) => listed.has(name) || !months.has(monthOf(sale))) },
      ]),
    );
    for (const [name, sales] of news) after.set(name, { all: sales, there: sales });
    const night = onceEach(
      [...after.values()].flatMap(({ there }) => there),
      'ETL_DUPLICATE_KEY',
    );
    if ('sales' in night) loaded = after;
    return night;
  };
};

const touches = (dependents: Dependents): NightMode => ({
  ...replaces('', dependents),
  options: `publish: { mode: 'replace', only: 'touched' }`,
  model: touchedMonths,
});

/** A table divided, by month if not said otherwise: then its key has the day, which a row may change. It stays, so that a person adds the column. */
const divided = (mode: NightMode, name: string, by = "range('day', 'month')"): NightMode => ({
  ...mode,
  name,
  options: `${mode.options}, partitionBy: ${by}`,
  key: by.startsWith('range') ? [...mode.key, 'day'] : mode.key,
  needsDdl: !mode.options.includes(`'add'`),
});

interface Merging {
  readonly keyOf?: (sale: Sale) => string;
  /** Only the pieces of a row that is there change. */
  readonly isPartly?: boolean;
  /** Two records of a key in one night are refused. */
  readonly isOnce?: boolean;
}

/** Of each key the record that counts: the newest of a night, or its last, against what is there. */
const merged =
  (
    changed: 'reload' | 'ignore',
    byTime: boolean,
    { keyOf = ({ id }) => String(id), isPartly = false, isOnce = false }: Merging = {},
  ): NightMode['model'] =>
  () => {
    const loaded = new Map<string, string>();
    const rows = new Map<string, Sale>();
    const isBeaten = (sale: Sale, other: Sale | undefined): boolean =>
      byTime && other !== undefined && sale.at < other.at;
    return (listed) => {
      follow(loaded, listed, String);
      const last = new Map<string, Sale>();
      const news = [...listed].filter(([name, sales]) => {
        const known = loaded.get(name);
        return known === undefined || (changed === 'reload' && known !== JSON.stringify(sales));
      });
      const records = news.flatMap(([, sales]) => sales);
      if (isOnce && new Set(records.map(keyOf)).size < records.length)
        return { refused: 'ETL_DUPLICATE_ROWS' };
      for (const [name, sales] of news) loaded.set(name, JSON.stringify(sales));
      for (const sale of records) if (!isBeaten(sale, last.get(keyOf(sale)))) last.set(keyOf(sale), sale);
      for (const [key, sale] of last) {
        const there = rows.get(key);
        if (isBeaten(sale, there)) continue;
        if (sale.gone) rows.delete(key);
        else rows.set(key, isPartly && there !== undefined ? { ...there, pieces: sale.pieces } : sale);
      }
      return { sales: [...rows.values()] };
    };
  };

const merges = (
  name: string,
  changed: 'reload' | 'ignore',
  byTime: boolean,
  dependents: Dependents,
  more = '',
): NightMode => ({
  name,
  options: `publish: { mode: 'merge', changed: '${changed}', deleted: oneOf('gone', ['y'])${more}${byTime ? ", newer: 'at'" : ''}${dependents === 'none' ? ", by: 'rebuild'" : ''} }, evolve: 'add'`,
  key: ['id'],
  events: every,
  dependents,
  isTotalMerged: dependents === 'all',
  needsDdl: false,
  model: merged(changed, byTime),
});

const versions = (name: string, dependents: Dependents): NightMode => ({
  name,
  options: `publish: { mode: 'history', changed: 'reload', at: 'since', deleted: oneOf('gone', ['y']) }, evolve: 'add'`,
  key: ['id'],
  ownKey: ['id', 'valid_from'],
  columns: `since: column.timestamptz('since'),`,
  valid: 'extract(epoch from valid_from)::int, extract(epoch from valid_to)::int',
  events: every,
  dependents,
  needsDdl: false,
  model: versioned,
});

/** Its rows refer to those of the derived table. */
const linked = (mode: NightMode): NightMode => ({
  ...mode,
  options: `${mode.options}, foreignKeys: [{ columns: 'day', references: 'total' }]`,
});

const withRival = (mode: NightMode): NightMode => ({ ...mode, hasRival: true });

export const nightModes: readonly NightMode[] = [
  linked(replaces('replaced', 'none')),
  replaces('replaced_in_place', 'all'),
  appends('appended', 'error', 'keep', 'all'),
  withRival(appends('appended_once', 'ignore', 'keep', 'none')),
  withRival(linked(appends('mirrored', 'reload', 'unload', 'none'))),
  appends('mirrored_in_use', 'reload', 'unload', 'all'),
  linked(merges('merged', 'reload', true, 'all')),
  withRival(merges('merged_last', 'ignore', false, 'none')),
  withRival(linked(versions('versioned', 'none'))),
  versions('versioned_in_use', 'all'),
  divided(replaces('', 'none'), 'divided'),
  divided(replaces('', 'views'), 'divided_seen'),
  divided(replaces('', 'all'), 'divided_in_use'),
  withRival(divided(touches('none'), 'touched')),
  divided(touches('views'), 'touched_seen'),
  divided(touches('all'), 'touched_in_use'),
  divided(appends('', 'reload', 'unload', 'none'), 'divided_mirrored'),
  divided(appends('', 'reload', 'unload', 'all'), 'divided_mirrored_in_use'),
  // Of each key the last: it stays in its partition.
  divided(merges('', 'reload', true, 'none'), 'divided_merged', "hash('id', 3)"),
  {
    ...divided(merges('', 'reload', false, 'all'), 'divided_merged_in_use'),
    model: merged('reload', false, { keyOf: ({ id, day }) => `${id} ${day}` }),
  },
  appends('reloaded', 'reload', 'keep', 'views'),
  divided(merges('', 'ignore', true, 'views'), 'divided_listed', "list('id')"),
  {
    ...merges('merged_partly', 'reload', false, 'views', ", update: ['pieces']"),
    model: merged('reload', false, { isPartly: true }),
  },
  {
    ...merges('merged_once', 'reload', false, 'none', ", twice: 'reject'"),
    key: ['seq'],
    model: merged('reload', false, { keyOf: ({ seq }) => String(seq), isOnce: true }),
  },
];
