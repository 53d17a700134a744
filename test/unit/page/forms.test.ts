// Which forms are accepted: by the browser's headers, and by their keys.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAccess } from '../../../src/page/access.ts';
import { createForms, refuseForeign } from '../../../src/page/forms.ts';

describe('a form from', () => {
  const sent = (host: string, origin: string | undefined, site?: string) => () =>
    refuseForeign(
      new Request('http://service/', {
        headers: {
          host,
          ...(origin !== undefined && { origin }),
          ...(site !== undefined && { 'sec-fetch-site': site }),
        },
      }),
    );

  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8080', 'same-origin'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080', undefined],
    // A proxy has removed TLS.
    ['ops.example.com', 'https://ops.example.com', 'same-origin'],
    ['ops.example.com:443', 'https://ops.example.com', undefined],
    ['OPS.example.com', 'https://ops.example.com', undefined],
    ['[::1]:8080', 'http://[::1]:8080', undefined],
  ])('the page at %s with the origin %s (%s) is taken', (host, origin, site) => {
    expect(sent(host, origin, site)).not.toThrow();
  });

  it.each([
    ['127.0.0.1:8080', undefined, undefined],
    ['127.0.0.1:8080', 'null', undefined],
    ['127.0.0.1:8080', '', undefined],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081', undefined],
    ['127.0.0.1:8080', 'http://localhost:8080', undefined],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080.evil.example', undefined],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080@evil.example', undefined],
    ['ops.example.com', 'https://evil.ops.example.com', 'same-site'],
    ['ops.example.com', 'https://ops.example.com', 'same-site'],
    ['ops.example.com', 'https://ops.example.com', 'cross-site'],
    ['ops.example.com', 'https://ops.example.com', 'none'],
    ['ops.example.com', 'file:///ops.example.com', undefined],
    ['ops.example.com', 'chrome-extension://abcdefgh', undefined],
    ['evil/ops.example.com', 'https://ops.example.com', undefined],
  ])('elsewhere is refused at %s: the origin %s (%s)', (host, origin, site) => {
    expect(sent(host, origin, site)).toThrow(expect.objectContaining({ code: 'ETL_PAGE_FORM' }));
  });
});

describe('a key', () => {
  const forms = createForms(createAccess('a-token-of-24-characters', '', {}));
  const others = createForms(createAccess('another-token-of-24-char', '', {}));
  const path = '/runs/1/cancel';
  const key = (): string => forms.keyOf('ann', path);
  afterEach(() => vi.useRealTimers());

  it('is valid for its session and action, and each is another form', () =>
    expect(forms.check(key(), 'ann', path)).not.toBe(forms.check(key(), 'ann', path)));

  it.each<[string, () => unknown]>([
    ['of another session', () => forms.check(key(), 'bob', path)],
    ['without a session', () => forms.check(key(), undefined, path)],
    ['of another action', () => forms.check(key(), 'ann', '/runs/2/cancel')],
    ['of another page', () => others.check(key(), 'ann', path)],
    ['that lives longer', () => forms.check(key().replace(/\.\d/, '.9'), 'ann', path)],
    ['with another number', () => forms.check(key().replace(/^./, 'x'), 'ann', path)],
    ['without its signature', () => forms.check(key().replace(/\.[^.]*$/, ''), 'ann', path)],
    ['that is empty', () => forms.check('', 'ann', path)],
    ['that is missing', () => forms.check(null, 'ann', path)],
  ])('%s is refused', (_, check) => {
    expect(check).toThrow(expect.objectContaining({ code: 'ETL_PAGE_FORM' }));
  });

  it('is valid for an hour', () => {
    const old = key();
    vi.useFakeTimers({ now: Date.now() + 59 * 60_000 });
    expect(() => forms.check(old, 'ann', path)).not.toThrow();
    vi.setSystemTime(Date.now() + 2 * 60_000);
    expect(() => forms.check(old, 'ann', path)).toThrow('more than an hour old');
  });
});
