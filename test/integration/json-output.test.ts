// docs/reference/json.schema.json: made of the types of what --json prints, and true of what commands print.

import { join } from 'node:path';
import { Ajv } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { expect, it } from 'vitest';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { root } from '../unit/project/source-files.ts';

const page = join(root, 'docs/reference/json.schema.json');

interface Definitions {
  readonly JsonOutput: { readonly properties: Readonly<Record<string, object>> };
}

/** The schema as TypeScript understands the types: without fields that they do not have. */
const strict = createGenerator({
  path: join(root, 'src/cli/json-output.ts'),
  tsconfig: join(root, 'tsconfig.json'),
  type: 'JsonOutput',
  expose: 'all',
  skipTypeCheck: true,
  encodeRefs: false,
}).createSchema('JsonOutput');
const { JsonOutput, ...types } = strict.definitions as unknown as Definitions;
const commands: readonly (readonly [name: string, schema: object])[] = Object.entries(
  JsonOutput.properties,
).map(([name, schema]) => [name.replaceAll(' ', '-'), schema]);
const definitions = { ...Object.fromEntries(commands), ...types };

it('the page is what the types say; later versions may add fields', async () => {
  const open = JSON.stringify(
    {
      $schema: strict.$schema,
      title: 'sluice',
      description: 'What commands of etl print with --json: a definition for each command, and `error`.',
      definitions,
    },
    (key, value: unknown) => (key === 'additionalProperties' && value === false ? undefined : value),
    1,
  );
  await expect(`${open}\n`).toMatchFileSnapshot(page);
});

const runs = usePipelineRuns();
const { files, etl, database } = runs;

const pipelineText = (
  name: string,
  limit: number,
) => `import { column, csv, definePipeline, env, expect, webhook } from 'sluice';
export default definePipeline({
  name: '${name}',
  schema: '${name}',
  notify: [webhook(env('NOBODY_HAS_THIS_VARIABLE'))],
  tables: {
    sale: {
      source: csv('in/sales.csv'),
      keep: 1,
      rejectLimit: ${limit},
      columns: { id: column.integer('Id'), price: column.numeric('Price', { precision: 6, scale: 2 }).nullable() },
      primaryKey: ['id'],
      tests: [expect.rows({ min: 1 }), expect.notNull('price', { severity: 'warn' })],
    },
  },
});
`;

/** Commands in an order in which each has something to print, by the definition of its documents. */
const steps: readonly (readonly [definition: string, ...args: readonly string[]])[] = [
  ['db-status', 'db', 'status'],
  ['error', 'run', '<strict>', '--param', 'a=b'],
  ['run', 'run', '<strict>'],
  ['preview', 'preview', '<loose>'],
  ['run', 'run', '<loose>'],
  ['plan', 'plan', '<loose>'],
  ['plan', 'plan', '<strict>'],
  ['files', 'files', '<loose>'],
  ['test', 'test', '<loose>'],
  ['verify', 'verify', '<loose>'],
  ['rejects-list', 'rejects', 'list', '--all'],
  ['rejects-show', 'rejects', 'show', 'in/sales.csv:3'],
  ['rejects-export', 'rejects', 'export', '--output', '<rejects.csv>'],
  ['rejects-replay', 'rejects', 'replay', '<rejects.csv>'],
  ['rejects-withdraw', 'rejects', 'withdraw', '<rejects.csv>'],
  ['reload', 'reload', '<loose>', 'in/sales.csv'],
  ['rollback', 'rollback', '<loose>', '--list'],
  ['load', 'load', '<more.csv>', '--into', 'more'],
  ['load', 'load', '<more.csv>', '--into', 'more', '--dry-run'],
  ['runs', 'runs'],
  ['status', 'status'],
  ['status', 'status', '1'],
  ['show', 'show', '2'],
  ['enqueue', 'enqueue', '<loose>'],
  ['queue', 'queue'],
  ['retry', 'retry', '1'],
  ['cancel', 'cancel', '1'],
  ['schedule-set', 'schedule', 'set', 'nightly', '<loose>', '--cron', '0 2 * * *'],
  ['schedule-list', 'schedule', 'list'],
  ['schedule-pause', 'schedule', 'pause', 'nightly'],
  ['schedule-resume', 'schedule', 'resume', 'nightly'],
  ['schedule-run-now', 'schedule', 'run-now', 'nightly'],
  ['schedule-history', 'schedule', 'history', 'nightly'],
  ['schedule-remove', 'schedule', 'remove', 'nightly'],
  ['notifications-list', 'notifications', 'list'],
  ['notifications-send', 'notifications', 'send'],
  ['prune', 'prune', '--dry-run'],
  ['doctor', 'doctor'],
];

/** Each line, or the one document. */
const documentsOf = (out: string): readonly unknown[] => {
  const lines = out.trimEnd().split('\n');
  return lines.every((line) => /^\{.*\}$|^\[.*\]$/.test(line))
    ? lines.map((line) => JSON.parse(line) as unknown)
    : [JSON.parse(out)];
};

const isError = (document: unknown): boolean => (document as { readonly type?: string }).type === 'error';

it('what commands print is as the schema says', async () => {
  const paths: Record<string, string> = {
    '<strict>': files.write('strict.ts', pipelineText('strict', 0)),
    '<loose>': files.write('loose.ts', pipelineText('loose', 5)),
    '<rejects.csv>': join(files.directory, 'rejects.csv'),
    '<more.csv>': files.write('more.csv', 'id,name\n1,a\n'),
  };
  files.write('in/sales.csv', 'Id,Price\n1,1.50\n2,cheap\n3,\n');
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'date-time': true } });
  const checks = new Map(
    commands.map(([name, schema]) => [name, ajv.compile({ definitions: types, ...schema })]),
  );
  expect([...checks].filter(([, check]) => check({ other: 1 }))).toEqual([]);
  const problems: unknown[] = [];
  for (const [definition, ...args] of steps) {
    // Only a run that has not ended can be cancelled.
    if (definition === 'cancel')
      await database.query("update etl.run set state = 'loading', finished_at = null where id = 1");
    const given = args.map((arg) => paths[arg] ?? arg);
    const { out, err } = await etl(...given, '--json');
    const documents = documentsOf(out);
    const own = documents.filter((document) => !isError(document));
    if (definition !== 'error' && own.length === 0) problems.push({ args, out, err });
    for (const document of documents) {
      const check = checks.get(isError(document) ? 'error' : definition)!;
      if (!check(document)) problems.push({ args, document, errors: check.errors });
    }
  }
  expect(problems).toEqual([]);
  expect((await database.query('select count(*)::int as n from loose.sale')).rows).toEqual([{ n: 2 }]);
});

it('every command is tried', () => {
  const tried = new Set(steps.map(([definition]) => definition));
  expect(commands.map(([name]) => name).filter((name) => !tried.has(name))).toEqual(['unload']);
});
