// The settings file of the embedded server.

import { describe, expect, it } from 'vitest';

import { settingsText } from '../../../../src/db/embedded/settings.ts';

describe('settingsText', () => {
  const text = settingsText(25_432, { max_connections: '200', search_path: `it's, "x"` });
  const lines = text.split('\n');

  const rows = [
    { name: 'the port', line: "port = '25432'" },
    { name: 'loopback only', line: "listen_addresses = '127.0.0.1'" },
    { name: 'no socket file', line: "unix_socket_directories = ''" },
    { name: 'minimal log', line: "wal_level = 'minimal'" },
    { name: 'a quote in a value is doubled', line: `search_path = 'it''s, "x"'` },
  ];
  it.each(rows)('has $name', ({ line }) => expect(lines).toContain(line));

  it('puts added settings last, where they win', () =>
    expect(lines.indexOf("max_connections = '200'")).toBeGreaterThan(
      lines.indexOf("max_connections = '100'"),
    ));

  it('keeps full durability', () =>
    expect(text).not.toMatch(/^(fsync|full_page_writes|synchronous_commit)/m));
});
