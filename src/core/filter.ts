// The fields of a file that a declaration names, and the filters that choose records by them.

/**
 * Names a field by its header, its position from 1, or several possible headers (`from`). With
 * `path`, the value is a part of the file's path.
 */
export type FieldRef =
  | string
  | number
  | {
      /** Possible headers of the field, of which each file has one. */
      readonly from: readonly string[];
    }
  | {
      /** Pattern whose match in the file's path is the value. */
      readonly path: RegExp;
    };

/** A condition on a record. Fields are trimmed, and a text that means null counts as absent. */
export type FilterSpec =
  | {
      /** Marks a filter made by present(). */
      readonly kind: 'present';
      /** Field that must have a value. */
      readonly header: FieldRef;
    }
  | {
      /** Marks a filter made by oneOf(). */
      readonly kind: 'oneOf';
      /** Field that is compared. */
      readonly header: FieldRef;
      /** Texts of which the field must be one. */
      readonly values: readonly string[];
    }
  | {
      /** Marks a filter made by when(). */
      readonly kind: 'when';
      /** Fields that `test` gets. */
      readonly headers: readonly FieldRef[];
      /** Keys of `fields` are headers or positions; for a field with `from`, its first header. */
      readonly test: (fields: Readonly<Record<string, string | null>>) => boolean;
    };
