// An attribute: a property of a table or a column that a declaration may set and that no row depends on.

import type { AttributesSpec } from '../../core/declaration/shape.ts';

/** The declared part of a table. */
export interface Declared {
  readonly comment?: string | undefined;
  readonly attributes?: AttributesSpec | undefined;
}

/** One attribute with its value. */
export interface Setting {
  /** Its key among the attributes that the server reports of a table. */
  readonly key: string;
  readonly value: string;
  /** SQL that sets it. `table`: quoted name. */
  readonly sql: (table: string) => string;
}

export interface Attribute {
  /** Of a partitioned table: whether the table has the attribute, and whether each partition does. */
  readonly ofWhole: boolean;
  readonly ofPart: boolean;
  /** Whether readers wait while it is set. */
  readonly blocksReaders: boolean;
  /** SQL: rows of key and value that the table with this oid has. */
  readonly select: (oid: string) => string;
  /** What is declared. `found`: what the table has, if it is there. */
  readonly settings: (declared: Declared, found: Readonly<Record<string, string>>) => readonly Setting[];
}
