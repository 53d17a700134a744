// The fields of a file that a column or a filter reads, as an author names them.

/** A part of a file's path, made by `path(…)`. */
export interface PathPart {
  /** Pattern whose first group, or whole match, is the value. */
  readonly path: RegExp;
}

/**
 * Names a field of a file: by its header text, by its position from 1, by alternative header texts
 * of which each file has one (`{ from: ['Id', 'ID'] }`), or as a part of the file's path
 * (`path(…)`).
 */
export type Field =
  | string
  | number
  | {
      /** Possible header texts of the field, of which each file has one. */
      readonly from: readonly string[];
    }
  | PathPart;

/**
 * Takes a value from the path of a file, the same for all its records:
 * `column.text(path(/region=(\w+)/))`.
 *
 * @param pattern its first group is the value; without a group, the whole match is. The run fails
 *   if the pattern does not match the path of a file.
 */
export const path = (pattern: RegExp): PathPart => Object.freeze({ path: pattern });

/** A field, or a list of fields whose texts are joined with the option `separator`. */
export type Headers = Field | readonly Field[];
