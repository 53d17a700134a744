// docs/reference/api.md is the public surface as the compiler sees it: a change of it shows in review. `-u` renews it.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { expect, it } from 'vitest';
import { useFiles } from '../../helpers/files.ts';
import { root } from './source-files.ts';

const files = useFiles();
/** The tool wants this ending. */
const reportName = 'sluice.api.md';

/** Compiles the declarations of src/ into a directory where their imports are found. */
const emitDeclarations = async (): Promise<string> => {
  files.write('package.json', readFileSync(join(root, 'package.json')));
  symlinkSync(join(root, 'node_modules'), join(files.directory, 'node_modules'));
  const outDir = join(files.directory, 'dist');
  const args = ['-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', outDir];
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), args);
  return join(outDir, 'index.d.ts');
};

/** What can be reached from the entry, exported or not: a type that an export refers to is part of the surface. */
const extract = (mainEntryPointFilePath: string): string => {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(files.directory, 'package.json'),
    configObject: {
      projectFolder: files.directory,
      mainEntryPointFilePath,
      compiler: { overrideTsconfig: { compilerOptions, include: [mainEntryPointFilePath] } },
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
  const report = withoutTexts(extract(await emitDeclarations()));
  await expect(report).toMatchFileSnapshot(join(root, 'docs/reference/api.md'));
  // A compiler and its reader, beside other tests.
}, 180_000);
