// Starts s3rver in a process of its own, puts objects into it, and makes its next answers fail.

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Host } from './hosts.ts';

/** The only keys that s3rver knows. */
export const s3Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } as const;

/** What happens to requests that match `on`, as path, query, blank and region: an answer of this kind, or a body that is cut. */
export interface S3Fault {
  readonly on: string;
  /** 1 if it is not given. */
  readonly times?: number;
  readonly status?: number;
  readonly code?: string;
  readonly region?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cutAfter?: number;
}

export interface S3Order {
  readonly faults: readonly S3Fault[];
}

export interface S3Report {
  readonly requests: readonly string[];
  readonly busy: number;
  readonly connections: number;
}

export interface S3Server {
  readonly endpoint: string;
  /** What a process needs in its environment to reach it. */
  readonly env: Readonly<Record<string, string>>;
  /** Puts an object; the bucket `public` may be read without a signature. */
  readonly put: (bucket: string, key: string, content: string | Buffer) => void;
  /** Makes the next requests fail; without any, ends all faults. Returns the requests since the last order. */
  readonly order: (...faults: readonly S3Fault[]) => Promise<readonly string[]>;
  readonly remove: (bucket: string, key: string) => void;
  /** Answers that are being sent. */
  readonly busy: () => Promise<number>;
  /** Since it was started. */
  readonly connections: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts it on this host's loopback, or on another host of hosts.ts. */
export const startS3 = async (host?: Pick<Host, 'address' | 'enter'>): Promise<S3Server> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-s3-'));
  const address = host?.address ?? '127.0.0.1';
  const flags = ['--openssl-legacy-provider', '--no-warnings'];
  const child = fork(path('run-typescript.mjs'), ['', path('s3-server.ts'), directory, address], {
    ...(host === undefined
      ? { execArgv: flags }
      : { execPath: 'nsenter', execArgv: [...host.enter, process.execPath, ...flags] }),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const endpoint = `http://${address}:${port}`;
  const fileOf = (bucket: string, key: string): string => join(directory, bucket, `${key}._S3rver_object`);
  const send = async (faults: readonly S3Fault[]): Promise<S3Report> => {
    child.send({ faults } satisfies S3Order);
    const [report] = (await once(child, 'message')) as [S3Report];
    return report;
  };
  // Its ETag is in a file of its own.
  const remove = (bucket: string, key: string): void => {
    for (const end of ['', '.md5']) rmSync(fileOf(bucket, key) + end, { force: true });
  };
  return {
    endpoint,
    env: {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: s3Keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    put: (bucket, key, content) => {
      remove(bucket, key);
      mkdirSync(dirname(fileOf(bucket, key)), { recursive: true });
      writeFileSync(fileOf(bucket, key), content);
      writeFileSync(`${fileOf(bucket, key)}.md5`, createHash('md5').update(content).digest('hex'));
    },
    remove,
    order: async (...faults) => (await send(faults)).requests,
    busy: async () => (await send([])).busy,
    connections: async () => (await send([])).connections,
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
