// The public surface as compilers and editors see it: docs/reference/api.md is its report, which `-u` renews, and every
// name has documentation.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { beforeAll, expect, it } from 'vitest';
import { writeCommonJsTypes } from '../../../src/cli/common-js-types.mjs';
import { useFiles } from '../../helpers/files.ts';
import { publicNames } from './public-names.ts';
import { root } from './source-files.ts';

const files = useFiles();
/** The tool wants this ending. */
const reportName = 'sluice.api.md';

const declarations = join(files.directory, 'dist');
const entry = join(declarations, 'index.d.ts');
const compilerOptions = {
  module: 'nodenext',
  target: 'es2023',
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};

/** Compiles the declarations of src/ into a directory where their imports are found. */
beforeAll(async () => {
  files.write('package.json', readFileSync(join(root, 'package.json')));
  symlinkSync(join(root, 'node_modules'), join(files.directory, 'node_modules'));
  const args = ['-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', declarations];
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), args);
  writeCommonJsTypes(declarations);
  // A compiler, beside other tests.
}, 180_000);

/** What can be reached from the entry, exported or not: a type that an export refers to is part of the surface. */
const extract = (): string => {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(files.directory, 'package.json'),
    configObject: {
      projectFolder: files.directory,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions, include: [entry] } },
      apiReport: {
        enabled: true,
        reportFileName: reportName,
        reportFolder: files.directory,
        reportTempFolder: join(files.directory, 'temp'),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
  mkdirSync(join(files.directory, 'temp'), { recursive: true });
  const problems: string[] = [];
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.text);
      message.handled = true;
    },
  });
  expect(problems).toEqual([]);
  return readFileSync(join(files.directory, reportName), 'utf8');
};

/** Texts of the catalogue are compared with docs/reference/errors.md, and are no part of the surface. */
const withoutTexts = (report: string): string => report.replace(/^ {8}readonly (?:message|hint): .*\n/gm, '');

it('docs/reference/api.md is the surface of the library', async () => {
  await expect(withoutTexts(extract())).toMatchFileSnapshot(join(root, 'docs/reference/api.md'));
  // A reader of all declarations, beside other tests.
}, 180_000);

it('editors show documentation for every name, also in a program in CommonJS', () => {
  const modules = [entry, join(declarations, 'index.d.cts')];
  const tsconfig = files.write('tsconfig.json', JSON.stringify({ compilerOptions, files: modules }));
  const names = publicNames(tsconfig, modules);
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['EtlError.hint', 'RunOptions.profile', 'TypedTable.lineage', 'expect.unique']),
  );
  expect(names.flatMap(({ name, documentation }) => (documentation === '' ? [name] : []))).toEqual([]);
}, 180_000);
