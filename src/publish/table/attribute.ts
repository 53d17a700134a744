// A property of a table or column that a declaration may set.

import type { AttributesSpec } from '../../core/shape.ts';

export interface Declared {
  readonly comment?: string | undefined;
  readonly attributes?: AttributesSpec | undefined;
}

export interface Setting {
  /** Key in `attributeList`, such as `comment price`. */
  readonly key: string;
  readonly value: string;
  readonly sql: (table: string) => string;
}

export interface Attribute {
  /**
   * Where a partitioned table has the attribute: in the table itself (`ofWhole`), in its partitions
   * (`ofPart`).
   */
  readonly ofWhole: boolean;
  readonly ofPart: boolean;
  readonly blocksReaders: boolean;
  readonly select: (oid: string) => string;
  readonly settings: (declared: Declared, found: Readonly<Record<string, string>>) => readonly Setting[];
}
