// An attribute: a property of a table or column that a declaration may set, independent of rows.

import type { AttributesSpec } from '../../core/shape.ts';

/** The part of a declared table that attributes read. */
export interface Declared {
  readonly comment?: string | undefined;
  readonly attributes?: AttributesSpec | undefined;
}

export interface Setting {
  /** Key of the attribute in `attributeList`, such as `comment price`. */
  readonly key: string;
  readonly value: string;
  /** Returns the SQL that sets the value. `table`: quoted name. */
  readonly sql: (table: string) => string;
}

export interface Attribute {
  /** For partitioned tables: does the table itself, and does each partition, have the attribute? */
  readonly ofWhole: boolean;
  readonly ofPart: boolean;
  readonly blocksReaders: boolean;
  /** SQL: rows of key and value for the table with this oid. */
  readonly select: (oid: string) => string;
  /** Returns the declared values. `found`: attributes of the existing table, if there is one. */
  readonly settings: (declared: Declared, found: Readonly<Record<string, string>>) => readonly Setting[];
}
