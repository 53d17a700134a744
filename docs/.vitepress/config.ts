// How `npm run site` makes the site of docs/: its pages stay as they are on GitHub, and their links lead to the same places.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme, type MarkdownRenderer } from 'vitepress';
import { anchorOf } from './anchor.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
const project = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(`${project}/${path}`, 'utf8');
const { version, description, repository } = JSON.parse(read('package.json')) as {
  readonly version: string;
  readonly description: string;
  readonly repository?: { readonly url: string };
};

/** Where links lead that leave docs/: `repository` of package.json, and until that is set, a name that nobody can have. */
const source = repository?.url.replace(/^git\+|\.git$/g, '') ?? 'https://example.org/sluice';

/** Where the site will be: a folder of each version is below it. */
const address = new URL(process.env['SITE_URL'] ?? 'http://localhost/');
const output = process.env['SITE_OUTPUT'] ?? `${project}dist-site`;
const versions = new Set(
  [version, ...(existsSync(output) ? readdirSync(output) : [])].filter((name) => /^\d/.test(name)),
);

/** Lines that go together: one picture, and nothing to load. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 3h14M4 8h11M7 13h8" stroke="#5672cd" stroke-width="3"/></svg>',
)}`;

/** Pages that are not for readers of the site: reports that programs write. */
const reports = ['reference/api.md', 'experiments/results.md'];

/** As GitHub resolves it: a page of the site, or a file of the repository. */
const linkOf = (href: string, page: string): string => {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href;
  const [path = '', hash] = href.split('#');
  const target = posix.join('docs', posix.dirname(page), path);
  const inside = target.replace(/^docs\//, '');
  const isPage = target.startsWith('docs/') && target.endsWith('.md') && !reports.includes(inside);
  const to = isPage ? path.replace(/README\.md$/, 'index.md') : `${source}/blob/v${version}/${target}`;
  return hash === undefined ? to : `${to}#${hash}`;
};

/** Pages are Markdown alone: links lead where they lead on GitHub, and braces in code are no expressions of Vue. */
const asOnGitHub = (markdown: MarkdownRenderer): void => {
  markdown.core.ruler.push('as-on-github', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href !== null) token.attrSet('href', linkOf(href, env.relativePath as string));
      if (token.type === 'code_inline') token.attrSet('v-pre', '');
    }
    for (const [at, token] of tokens.entries()) {
      const { type, content } = token;
      // Code by indentation looks like any other, and is scrolled.
      if (type === 'code_block') Object.assign(token, { type: 'fence', info: 'text' });
      // A picture is scrolled where the window is too narrow, also by keys.
      if (type === 'inline' && /^!\[[^\]]*\]\([^)]*\)$/.test(content))
        tokens[at - 1]?.attrSet('tabindex', '0');
      // An empty header cell is no header.
      if (type !== 'inline' || content !== '' || tokens[at - 1]?.type !== 'th_open') continue;
      tokens[at - 1]!.tag = 'td';
      tokens[at + 1]!.tag = 'td';
    }
  });
};

const readme = read('README.md');
/** Pages in the order in which the README names them, then the others. */
const orderOf = (path: string): number => {
  const at = readme.indexOf(`(docs/${path}`, readme.indexOf('## Documentation'));
  return at === -1 ? Number.POSITIVE_INFINITY : at;
};

const itemOf = (path: string): DefaultTheme.SidebarItem => ({
  text: /^#+ (.*)$/m.exec(read(`docs/${path}`))![1]!.replaceAll('`', ''),
  link: `/${path.replace(/(?:README)?\.md$/, '')}`,
});

const groupOf = (text: string, paths: readonly string[]): DefaultTheme.SidebarItem => {
  const items = paths
    .filter((path) => path.endsWith('.md') && !reports.includes(path))
    .toSorted((one, other) => orderOf(one) - orderOf(other) || (one < other ? -1 : 1))
    .map(itemOf);
  // Only the group of the page that is open: all together are longer than any window. A group that is no link would be a
  // button in a button.
  return { text, collapsed: true, items, link: items[0]?.link, docFooterText: items[0]?.text };
};

/** The pages of a folder that is there. */
const pagesOf = (folder: string): readonly string[] =>
  existsSync(`${docs}${folder}`)
    ? readdirSync(`${docs}${folder}`).map((name) => posix.join(folder, name))
    : [];

const sidebar = [
  groupOf('Guide', pagesOf('guide')),
  groupOf('Recipes', pagesOf('recipes')),
  groupOf('Reference', pagesOf('reference')),
  groupOf('Operations', pagesOf('operations')),
  groupOf('Benchmarks', ['comparison.md', 'benchmarks.md', ...pagesOf('benchmarks')]),
  groupOf('Decisions', pagesOf('decisions')),
  groupOf('Inside', ['decoder.md', 'experiments.md', 'tests.md']),
].filter(({ items = [] }) => items.length > 0);

export default defineConfig({
  title: 'sluice',
  description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: icon }]],
  base: `${address.pathname}${version}/`,
  outDir: `${output}/${version}`,
  cleanUrls: true,
  router: { prefetchLinks: false },
  sitemap: { hostname: `${address.href}${version}/` },
  srcExclude: reports,
  rewrites: { ':folder/README.md': ':folder/index.md' },
  markdown: {
    anchor: { slugify: anchorOf },
    config: asOnGitHub,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  transformPageData: ({ relativePath }) =>
    relativePath === 'index.md'
      ? { frontmatter: { sidebar: false, aside: false, pageClass: 'landing' } }
      : undefined,
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Guide', link: '/guide/one-file', activeMatch: '/guide/' },
      { text: 'Reference', link: '/reference/pipeline', activeMatch: '/reference/' },
      { text: 'Comparison', link: '/comparison' },
      {
        text: version,
        items: [
          ...Array.from(versions, (name) => ({ text: name, link: `/../${name}/`, target: '_self' })),
          { text: 'What is new', link: `${source}/blob/v${version}/CHANGELOG.md` },
        ],
      },
    ],
    sidebar,
    outline: [2, 3],
  },
  // A visitor who asks for no version gets the one that was built last.
  buildEnd: () =>
    writeFileSync(
      `${output}/index.html`,
      `<!doctype html><meta http-equiv="refresh" content="0; url=${version}/">\n`,
    ),
});
