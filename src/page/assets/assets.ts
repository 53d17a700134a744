// Style sheets and scripts of the page, ours and uPlot's, with ETags.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { script } from './script.ts';
import { style } from './style.ts';

export interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0f766e"/><path d="M3 4h10M3 8h7M3 12h4" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`;

// Read as text, because uPlot's package has no module that a browser could import.
const require = createRequire(import.meta.url);
const chartStyle = readFileSync(require.resolve('uplot/dist/uPlot.min.css'), 'utf8');
const chartScript = readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8');

const asset = (name: string, type: string, text: string): readonly [string, Asset] => {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return [name, { type, text, etag }];
};

export const assets: ReadonlyMap<string, Asset> = new Map([
  asset('page.css', 'text/css; charset=utf-8', `${chartStyle}\n${style}`),
  asset('page.js', 'text/javascript; charset=utf-8', script),
  asset('chart.js', 'text/javascript; charset=utf-8', chartScript),
  asset('icon.svg', 'image/svg+xml', icon),
]);
