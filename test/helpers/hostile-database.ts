// A database in which a role that may make schemas, and nothing else, has been before everybody else, and notes whose code of his
// is run.

import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { ask, withPg } from './own-server.ts';
import { createDatabase } from './server.ts';

export interface HostileDatabase {
  /** Of a superuser. */
  readonly url: string;
  /** The role that was there before. */
  readonly stranger: string;
  readonly strangerUrl: string;
  asStranger(sql: string): Promise<void>;
  asAdmin(sql: string): Promise<void>;
  /** Whether anything of his was run by anybody; no rollback takes it back. Called as spy.note(what) or as a trigger. */
  wasRun(): Promise<boolean>;
  /** Runs `etl` as the superuser, or as somebody else. */
  etl(args: readonly string[], url?: string): Promise<{ exit: number; out: string; err: string }>;
  /** Makes a role that may connect; dropped with the rest. */
  addRole(name: string, options?: string): Promise<{ role: string; url: string }>;
  drop(): Promise<void>;
}

/** A sequence is not rolled back. One function is called in expressions, the other by triggers. */
const spy = `
  create schema spy; grant usage on schema spy to public;
  create sequence spy.called; grant all on sequence spy.called to public;
  create function spy.note(what text) returns text language plpgsql immutable as
    $$ begin perform nextval('spy.called'); return what; end $$;
  create function spy.note_row() returns trigger language plpgsql as
    $$ begin perform nextval('spy.called'); return new; end $$`;

/** Makes the database and the stranger. The caller drops it. */
export const createHostileDatabase = async (): Promise<HostileDatabase> => {
  const database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const roles: string[] = [];
  const asAdmin = async (sql: string): Promise<void> => void (await ask(database.url, sql));
  const urlOf = (role: string): string => {
    const url = new URL(database.url);
    url.username = role;
    url.password = 'guest';
    return url.href;
  };
  const addRole: HostileDatabase['addRole'] = async (prefix, options = '') => {
    const role = `${prefix}_${randomUUID().replaceAll('-', '')}`;
    await asAdmin(`create role ${role} login password 'guest' ${options}`);
    roles.push(role);
    return { role, url: urlOf(role) };
  };
  const { role: stranger, url: strangerUrl } = await addRole('mallory');
  await asAdmin(
    `grant create on database ${name} to ${stranger}; grant create on schema public to ${stranger}`,
  );
  const asStranger = (sql: string): Promise<void> =>
    withPg(strangerUrl, async (client) => void (await client.query(sql)));
  await asStranger(spy);
  return {
    url: database.url,
    stranger,
    strangerUrl,
    asStranger,
    asAdmin,
    addRole,
    wasRun: async () =>
      (await ask<{ called: boolean }>(database.url, 'select is_called as called from spy.called'))[0]!.called,
    etl: async (args, url = database.url) => {
      const io = fakeIo({ env: { DATABASE_URL: url } });
      const exit = await main(args, io);
      return { exit, out: io.stdout.text, err: io.stderr.text };
    },
    drop: async () => {
      await database.drop();
      // Who was made a member goes before who made him one.
      await ask(inject('serverUrl'), `drop role ${roles.reverse().join(', ')}`);
    },
  };
};
