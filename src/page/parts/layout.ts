// The HTML around every view: head, navigation and footer.

import { createHash } from 'node:crypto';
import type { Section, View } from './view.ts';
import { html, nothing, raw, time, type Html } from './html.ts';

const places = [
  ['overview', '/', 'Overview'],
  ['runs', '/runs', 'Runs'],
  ['rejects', '/rejects', 'Rejects'],
  ['files', '/files', 'Files'],
  ['schedules', '/schedules', 'Schedules'],
  ['queue', '/queue', 'Queue'],
  ['actions', '/actions', 'Actions'],
] as const;

export interface Frame {
  readonly href: (path: string) => string;
  readonly server: string;
  readonly live: string | undefined;
  readonly now: Date;
  readonly isControl: boolean;
  readonly hasBoard: boolean;
}

export interface SentSection {
  readonly id: string;
  readonly hash: string;
  readonly html: string;
}

export const sentSection = async ({ id, title, body }: Section): Promise<SentSection> => {
  const heading = title === undefined ? nothing : html`<h2 id="${id}-title">${title}</h2>`;
  const text = String(await html`${heading}${body}`);
  return { id, hash: createHash('sha256').update(text).digest('base64url').slice(0, 16), html: text };
};

/** A section with the hash by which the page's script tells if the section has changed. */
const sectionHtml = ({ id, hash, html: text }: SentSection): Html =>
  html`<section id="${id}" data-hash="${hash}">${raw(text)}</section>`;

export const layout = async (
  view: View,
  { href, server, live, now, isControl, hasBoard }: Frame,
): Promise<string> => {
  const sections = await Promise.all(view.sections.map(sentSection));
  const links = places.map(
    ([place, path, name]) =>
      html`<a href="${href(path)}" ${place === view.place ? raw('aria-current="page"') : ''}>${name}</a>`,
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${view.title} · sluice</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="${href('/assets/icon.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${href('/assets/page.css')}" />
        <script src="${href('/assets/page.js')}" defer></script>
      </head>
      <body ${live === undefined ? '' : html`data-live="${live}"`}>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="${href('/')}">sluice</a>
          <nav aria-label="Pages">
            ${links}${hasBoard ? html`<a href="${href('/board')}">BullMQ</a>` : nothing}
          </nav>
          <span class="mode">${isControl ? 'control' : 'read only'}</span>
        </header>
        <main id="main" tabindex="-1">
          <h1>${view.title}</h1>
          ${sections.map(sectionHtml)}
        </main>
        <footer>
          <span>${server}</span>
          <span>Times in <span id="zone">UTC</span> · as of <span id="as-of">${time(now)}</span></span>
          <span id="link" role="status"></span>
        </footer>
      </body>
    </html>`;
  return String(await page);
};
