// What a pipeline file imports from sluice.

export { expect } from '../../check/registry.ts';
export { EtlError } from '../../errors.ts';
export { column, path } from './column.ts';
export { csv } from './csv.ts';
export { definePipeline } from './define-pipeline.ts';
export { env } from './env.ts';
export { oneOf, present, when } from './filter.ts';
export { index } from './index-definition.ts';
export { slack, webhook } from './notify.ts';
export { hash, list, range } from './partition-by.ts';
export { rowSchema } from './row-schema.ts';
export { sqlFile } from './sql-file.ts';
