// Where a server is looked for, and what of it may be printed.

import { describe, expect, it } from 'vitest';
import { addressFromUrl, namesServer } from '../../../../src/db/connect/address.ts';
import { serviceUrl } from '../../../../src/db/connect/service-file.ts';
import { EtlError } from '../../../../src/errors.ts';
import { useFiles } from '../../../helpers/files.ts';

const { write } = useFiles();

describe('addressFromUrl', () => {
  it('labels without the password', () => {
    expect(addressFromUrl('postgres://me:sesame@db.example.com:6543/weather').label).toBe(
      'me@db.example.com:6543/weather',
    );
  });

  it.each(['mysql://x', 'db.example.com', ''])('refuses %j without repeating it', (url) => {
    expect(() => addressFromUrl(url)).toThrow(EtlError);
    expect(() => addressFromUrl('postgres://me:sesame@[bad/x')).toThrow(/^(?!.*sesame)/);
  });
});

describe('namesServer', () => {
  it.each([
    [{}, false],
    [{ DATABASE_URL: '' }, false],
    [{ DATABASE_URL: 'postgres://x' }, true],
    [{ PGHOST: 'x' }, true],
    [{ PGSERVICE: 'x' }, true],
    [{ PGSSLMODE: 'require' }, false],
  ])('%j: %s', (env, expected) => expect(namesServer(env)).toBe(expected));
});

describe('serviceUrl', () => {
  const file = write(
    'pg_service.conf',
    '# ours\n[weather]\nhost=db.example.com\nport = 6543\nuser=me\npassword=a&b=c\ndbname=noaa\n\n[other]\nhost=elsewhere\n',
  );

  it('gives the settings of the section', () => {
    const address = addressFromUrl(serviceUrl('weather', { PGSERVICEFILE: file }));
    expect(address.label).toBe('me@db.example.com:6543/noaa');
  });

  it('refuses a service that no file has', () => {
    expect(() => serviceUrl('nope', { PGSERVICEFILE: file })).toThrow(/no service "nope"/);
  });
});
