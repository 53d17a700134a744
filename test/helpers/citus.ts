// A database of its own on the Citus cluster that CITUS_URL names, with its worker nodes.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { CreatedDatabase } from './server.ts';

/** A coordinator with at least one worker, as a superuser; undefined: nothing of it is tested. */
export const citusUrl = process.env.CITUS_URL;

export interface CitusNode {
  readonly host: string;
  readonly port: number;
}

export const askAt = async (
  url: URL | string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: String(url) });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const sql of statements) rows = (await client.query(sql)).rows;
    return rows;
  } finally {
    await client.end();
  }
};

export const urlOf = ({ host, port }: CitusNode, database: string): URL => {
  const url = new URL(citusUrl!);
  url.hostname = host;
  url.port = String(port);
  url.pathname = database;
  return url;
};

export const citusWorkers = async (): Promise<readonly CitusNode[]> =>
  (await askAt(
    citusUrl!,
    'select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 and isactive order by nodeport',
  )) as unknown as readonly CitusNode[];

export const createCitusDatabase = async (): Promise<CreatedDatabase> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const own = new URL(citusUrl!);
  const coordinator = { host: own.hostname, port: Number(own.port) };
  const workers = await citusWorkers();
  // Citus would otherwise notice only that it does not create the database on the workers.
  for (const node of [coordinator, ...workers]) {
    await askAt(
      urlOf(node, own.pathname.slice(1)),
      'set client_min_messages = error',
      `create database ${name}`,
    );
    await askAt(urlOf(node, name), 'create extension citus');
  }
  const url = urlOf(coordinator, name);
  await askAt(url, `select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`);
  for (const { host, port } of workers) await askAt(url, `select citus_add_node('${host}', ${port})`);
  return {
    url: url.href,
    drop: async () => {
      for (const node of [coordinator, ...workers])
        await askAt(urlOf(node, own.pathname.slice(1)), `drop database if exists ${name} with (force)`);
    },
  };
};
