// An attribute: a property of a table or a column that a declaration may set and that no row depends on.

import type { AttributesSpec } from '../../shape.ts';

/** The declared part of a table. */
export interface Declared {
  readonly comment?: string | undefined;
  readonly attributes?: AttributesSpec | undefined;
}

/** One attribute with its value. */
export interface Setting {
  /** Names it among those that the server says a table has. */
  readonly key: string;
  readonly value: string;
  /** SQL that sets it. `table`: quoted name. */
  readonly sql: (table: string) => string;
}

export interface Attribute {
  /** Of a table that is divided: whether it is one of the table, and of each partition. */
  readonly ofWhole: boolean;
  readonly ofPart: boolean;
  /** Whether readers wait while it is set. */
  readonly blocksReaders: boolean;
  /** SQL: rows of key and value that the table with this oid has. */
  readonly select: (oid: string) => string;
  /** What is declared. `found`: what the table has, if it is there. */
  readonly settings: (declared: Declared, found: Readonly<Record<string, string>>) => readonly Setting[];
}
