// csv(): the files of a table and how they are written.

import { z } from 'zod';
import type { Dialect } from '../../core/declaration/declaration.ts';
import type { HttpOptions } from '../../input/sources/http/declared.ts';
import type { S3Options } from '../../input/sources/s3/declared.ts';
import { freezeDeep } from '../freeze.ts';
import { mustBe } from '../problems.ts';

/** Options of csv(); the defaults follow RFC 4180 with a header line. */
export interface CsvOptions extends Partial<Dialect>, HttpOptions, S3Options {
  /** Label of an encoding, such as 'windows-1252' or 'utf-16le'; 'detect': as the byte order mark says, else UTF-8. */
  readonly encoding?: string;
  /** Parameters may lead to files outside of the working directory, or of the directory that a path names before them. */
  readonly anywhere?: boolean;
  /** Lines at the end of each file that are no records. */
  readonly skipEnd?: number;
  /** How often a compressed file may be larger than it is stored. */
  readonly maxRatio?: number;
  /** How many bytes a compressed file may become. */
  readonly maxBytes?: number;
}

/** Where files are, and what is true of these alone: each option takes the place of that of csv(). */
export interface LocationOptions extends CsvOptions {
  /** A path or glob. */
  readonly path: string;
  /** Fields that all their records have beside their own, named by columns as those are. */
  readonly constants?: Readonly<Record<string, string | number>>;
}

export type Location = string | LocationOptions;

/** A source as it was written; definePipeline checks it, so that problems name their table. */
export interface CsvSource {
  readonly kind: 'csv';
  readonly paths: unknown;
  readonly options: unknown;
}

/**
 * Reads a table from CSV files.
 *
 * @param paths path or glob, or several, relative to the working directory; with options or constants of its own, `{ path: 'a/*.csv', delimiter: ';', constants: { region: 'a' } }`.
 * @param options delimiter ',' · quote '"' · escape = quote · escapes null · quotes 'strict' · lineEnd 'auto' · header true · match 'exact' · nulls [''] · quotedNulls true ·
 *   trim false · skipLines 0 · skipEnd 0 · headerLines 1 · comment null · comments 'lines' · ragged 'reject' · anywhere false · encoding 'utf-8' · maxRatio 1000 · maxBytes 1 TiB.
 */
export const csv = (paths: Location | readonly Location[], options: CsvOptions = {}): CsvSource =>
  freezeDeep({ kind: 'csv', paths, options });

export const csvSourceSchema = z.custom<CsvSource>(
  (value) => (value as Partial<CsvSource> | null | undefined)?.kind === 'csv',
  mustBe("csv('path.csv')"),
);
