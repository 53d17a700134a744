// The examples for Kubernetes and systemd say what the program does; no cluster is needed to see that.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile, root } from './source-files.ts';

const cli = readProjectFile('docs/reference/cli.md');

/** Flags of a command line that its help does not name. */
const unknownFlags = ([command, ...args]: readonly string[]): readonly string[] => {
  const [, help = ''] = cli.split(`<!-- help: etl ${command} -->`);
  return args.filter((arg) => arg.startsWith('--') && !help.split('<!-- end -->')[0]!.includes(`  ${arg} `));
};

/** Exit codes with which a run does not end better when it is repeated: usage, rejects, guards. */
const needAPerson = [2, 3, 4];

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly [
    Readonly<
      Record<'startupProbe' | 'readinessProbe' | 'livenessProbe', Probe> & {
        args: string[];
        ports: { name: string; containerPort: number }[];
        securityContext: object;
        volumeMounts: { mountPath: string }[];
      }
    >,
  ];
}

const cronJob = parse(readProjectFile('examples/kubernetes/nightly.yaml')).spec as {
  readonly concurrencyPolicy: string;
  readonly jobTemplate: {
    readonly spec: {
      readonly podFailurePolicy: {
        readonly rules: { action: string; onExitCodes?: { values: number[] } }[];
      };
      readonly template: { readonly spec: Pod };
    };
  };
};
const nightly = cronJob.jobTemplate.spec.template.spec;
const deployment = parse(readProjectFile('examples/kubernetes/worker.yaml')).spec as {
  readonly selector: { readonly matchLabels: object };
  readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod };
};
const worker = deployment.template.spec;

describe.each([
  ['nightly.yaml', nightly],
  ['worker.yaml', worker],
])('a pod of %s', (_, pod) => {
  const [container] = pod.containers;

  it('gives etl flags that it has', () => expect(unknownFlags(container.args)).toEqual([]));

  it('may do nothing but run, and write to /tmp', () =>
    expect({ ...pod.securityContext, ...container.securityContext, mounts: container.volumeMounts }).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      mounts: [{ name: 'tmp', mountPath: '/tmp' }],
    }));
});

describe('the nightly pod', () => {
  it('is not repeated where a person is needed', () =>
    expect(
      cronJob.jobTemplate.spec.podFailurePolicy.rules.map(({ onExitCodes }) => onExitCodes?.values),
    ).toEqual([undefined, needAPerson]));

  it('never runs beside that of the night before', () => expect(cronJob.concurrencyPolicy).toBe('Forbid'));
});

describe('the worker pods', () => {
  const [{ args, ports, startupProbe, readinessProbe, livenessProbe }] = worker.containers;

  it('are asked where the worker answers', () => {
    expect(ports).toEqual([
      { name: 'health', containerPort: Number(args[args.indexOf('--health-port') + 1]) },
    ]);
    const asked = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet);
    expect(asked).toEqual(['/health', '/ready', '/health'].map((path) => ({ path, port: 'health' })));
  });

  it('have time to finish their chunks', () =>
    expect(worker.terminationGracePeriodSeconds).toBeGreaterThan(
      Number.parseInt(args[args.indexOf('--stop-deadline') + 1]!, 10),
    ));

  it('are those that the deployment looks for', () =>
    expect(deployment.template.metadata.labels).toMatchObject(deployment.selector.matchLabels));
});

const units = readdirSync(join(root, 'examples/systemd'));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.each(units.filter((unit) => unit.endsWith('.service')))('%s', (unit) => {
  const text = readProjectFile(`examples/systemd/${unit}`);
  const [, line = ''] = /^ExecStart=.*\/etl (.*)$/m.exec(text)!;

  it('gives etl flags that it has', () => expect(unknownFlags(line.split(' '))).toEqual([]));

  it('asks etl alone to stop, and gives it time', () =>
    expect(text).toMatch(/^KillMode=mixed\nTimeoutStopSec=60$/m));
});

it('the nightly unit is not repeated where a person is needed', () =>
  expect(readProjectFile('examples/systemd/etl-noaa.service')).toContain(
    `\nRestartPreventExitStatus=${needAPerson.join(' ')}\n`,
  ));

// Not every machine has it; CI installs it.
it.skipIf(!hasSystemd && process.env['CI'] === undefined)('systemd accepts the units', () => {
  const { status, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', ...units.map((unit) => join(root, 'examples/systemd', unit))],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
