// The exports of sluice that a pipeline file can import.

export { expect } from '../publish/data-tests/registry.ts';
export { EtlError } from '../core/errors/errors.ts';
export { column } from './declare/column.ts';
export { csv } from './declare/csv.ts';
export { definePipeline } from './define-pipeline.ts';
export { env } from './declare/env.ts';
export { path } from './declare/field.ts';
export { oneOf, present, when } from './declare/filter.ts';
export { index } from './declare/index-definition.ts';
export { slack, webhook } from './declare/notify.ts';
export { hash, list, range } from './declare/partition-by.ts';
export { rowSchema } from './row-schema.ts';
export { sqlFile } from './declare/sql-file.ts';
