// csv(): declares the files of a table and how they are written.

import { z } from 'zod';
import type { Dialect } from '../../core/declaration.ts';
import type { HttpOptions } from '../../input/sources/http/declared.ts';
import type { S3Options } from '../../input/sources/s3/declared.ts';
import { freezeDeep } from '../freeze.ts';
import { mustBe } from '../problems.ts';

/** Options of csv(): the dialect of the files and how to read them. The defaults are RFC 4180's. */
export interface CsvOptions extends Partial<Dialect>, HttpOptions, S3Options {
  /**
   * Encoding of the files, such as 'windows-1252' or 'utf-16le'. 'detect': the encoding of the byte
   * order mark, or UTF-8 without one. Default: 'utf-8'.
   */
  readonly encoding?: string;
  /**
   * Allows parameters to lead to files outside the working directory, or outside the directory that
   * the path names before the parameter. Default: false.
   */
  readonly anywhere?: boolean;
  /** Number of lines at the end of each file to skip, such as a line of totals. Default: 0. */
  readonly skipEnd?: number;
  /** Largest allowed ratio of decompressed to compressed size. Default: 1,000. */
  readonly maxRatio?: number;
  /** Largest allowed decompressed size of a file, in bytes. Default: 1 TiB. */
  readonly maxBytes?: number;
  /**
   * Seconds for which a file of this machine must be unchanged before it is loaded. Default: 2; 0
   * loads it at once.
   */
  readonly settle?: number;
  /**
   * Ending of a marker file, such as '.done': `a.csv` is loaded once `a.csv.done` or `a.done` is
   * there. Default: none.
   */
  readonly ready?: string;
  /** 'complete': a file whose last record has no line end is not loaded yet. Default: 'any'. */
  readonly lastLine?: 'any' | 'complete';
  /**
   * What happens if a file cannot be loaded: 'stop' fails the run, 'skip' holds back only that
   * file. Default: 'skip' if the table is appended, merged or a history, otherwise 'stop'.
   */
  readonly onBadFile?: 'stop' | 'skip';
}

/** A location of files with its own options, which override those of csv(). */
export interface LocationOptions extends CsvOptions {
  /** A path, glob or URL. */
  readonly path: string;
  /** Fields to add to every record of these files: `{ region: 'north' }`. */
  readonly constants?: Readonly<Record<string, string | number>>;
}

/** A path, glob or URL, alone or with its own options. */
export type Location = string | LocationOptions;

/** The result of csv(), unchecked: definePipeline checks it, so that errors can name the table. */
export interface CsvSource {
  /** Marks a source of CSV files, as made by csv(). */
  readonly kind: 'csv';
  /** The locations as given to csv(). */
  readonly paths: unknown;
  /** The options as given to csv(), without defaults. */
  readonly options: unknown;
}

/**
 * Declares the files of a table: `csv('exports/sales-*.csv', { delimiter: ';' })`. Compressed files
 * (gzip, zstd, brotli) and members of zip archives are decompressed while they are read.
 *
 * @param paths a path, glob or URL, or a list; paths are relative to the working directory. A
 *   location can override options: `{ path: 'a/*.csv', delimiter: ';', constants: { region: 'a' }
 *   }`.
 * @param options defaults: delimiter ',' · quote '"' · escape = quote · escapes null · quotes
 *   'strict' · lineEnd 'auto' · header true · match 'exact' · nulls [''] · quotedNulls true · trim
 *   false · skipLines 0 · skipEnd 0 · headerLines 1 · comment null · comments 'lines' · ragged
 *   'reject' · anywhere false · encoding 'utf-8' · maxRatio 1000 · maxBytes 1 TiB
 *   · settle 2 · lastLine 'any' · onBadFile by the mode.
 */
export const csv = (paths: Location | readonly Location[], options: CsvOptions = {}): CsvSource =>
  freezeDeep({ kind: 'csv', paths, options });

export const csvSourceSchema = z.custom<CsvSource>(
  (value) => (value as Partial<CsvSource> | null | undefined)?.kind === 'csv',
  mustBe("csv('path.csv')"),
);
