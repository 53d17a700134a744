// Titles of films and episodes, as IMDb publishes them in title.basics.tsv: tabs, no quotes, `\N` for null.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, pick, randomFrom, skewed, title, type Random } from '../random.ts';
import { params, type Shape } from './contract.ts';

const pipeline = definePipeline({
  name: 'bench_titles',
  schema: 'bench_titles',
  params,
  tables: ({ staging }) => ({
    titles: {
      source: csv('*titles.tsv', { delimiter: '\t', quote: null, nulls: ['\\N'] }),
      staging,
      columns: {
        tconst: column.text('tconst'),
        title_type: column.text('titleType'),
        primary_title: column.text('primaryTitle'),
        original_title: column.text('originalTitle'),
        is_adult: column.boolean('isAdult'),
        start_year: column.smallint('startYear').nullable(),
        end_year: column.smallint('endYear').nullable(),
        runtime_minutes: column.integer('runtimeMinutes').nullable(),
        genres: column.text('genres').nullable(),
      },
      primaryKey: ['tconst'],
    },
  }),
});

/** Percentages of the other types; the rest are episodes. */
const types = [
  ['short', 9],
  ['movie', 6],
  ['video', 3],
  ['tvSeries', 3],
  ['tvMovie', 1],
  ['tvMiniSeries', 1],
  ['tvSpecial', 1],
] as const;
const typesByPercent = types.flatMap(([type, percent]) => Array.from({ length: percent }, () => type));
const genres =
  'Drama Comedy Talk-Show Short Documentary News Romance Family Reality-TV Animation Music Crime Action Adventure Game-Show Adult Sport Fantasy Mystery Horror Thriller History Biography Sci-Fi Musical War Western Film-Noir'.split(
    ' ',
  );
const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

const episodeTitle = (random: Random, year: number): string => {
  const share = random();
  if (share < 0.4) return `Episode #${skewed(random, 1, 40)}.${skewed(random, 1, 260)}`;
  if (share < 0.5) return `Episode dated ${between(random, 1, 28)} ${pick(random, months)} ${year}`;
  return title(random, 8);
};

const genresOf = (random: Random): string =>
  [...new Set(Array.from({ length: between(random, 1, 3) }, () => genres[skewed(random, 0, 27)]!))]
    .toSorted()
    .join(',');

/** A value, or null in a share of the records. */
const orNull = (random: Random, nullShare: number, value: () => string | number): string | number =>
  random() < nullShare ? '\\N' : value();

export default pipeline;

export const shape: Shape = {
  name: 'titles',
  title: 'four texts, boolean, smallints and integers that are mostly null; tabs, no quotes, `\\N`',
  pipeline,
  files: {
    nameEnd: 'titles.tsv',
    headerLine:
      'tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      let id = 0;
      return batchesOf(() => {
        id += between(random, 1, 4);
        const type = typesByPercent[between(random, 0, 99)] ?? 'tvEpisode';
        const year = 2025 - skewed(random, 0, 130);
        const name = type === 'tvEpisode' ? episodeTitle(random, year) : title(random, 8);
        return `${[
          `tt${String(id).padStart(7, '0')}`,
          type,
          name,
          random() < 0.97 ? name : title(random, 8),
          random() < 0.03 ? 1 : 0,
          orNull(random, 0.12, () => year),
          orNull(random, 0.99, () => Math.min(2025, year + skewed(random, 0, 20))),
          orNull(random, 0.65, () => skewed(random, 1, 240)),
          orNull(random, 0.05, () => genresOf(random)),
        ].join('\t')}\n`;
      });
    },
  },
};
