// The system's Chromium, as visitors have it: pages in light and dark, wide and narrow, with and without scripts, and their faults.

import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const findBrowser = (): string => {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
  if (path === undefined)
    throw new Error(`None of ${names.join(', ')} is installed: apt-get install chromium`);
  return path;
};

/** Starts the browser. As root it has no sandbox, and it meets no pages but ours. */
const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findBrowser(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

/** Runs in the page by the debugger's protocol, which its content security policy does not see. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

export interface Visit {
  readonly page: Page;
  /** Opens an address; everything that it needs has arrived. */
  readonly go: (path: string) => Promise<void>;
  /** What went wrong since the last call: console errors, exceptions, answers that are errors, requests to other hosts. */
  readonly problems: () => readonly string[];
  /** What axe finds: the rule, and the elements. */
  readonly axe: () => Promise<readonly string[]>;
  /** Presses Tab until the focus is on what is wanted; each stop on the way can be seen. */
  readonly tabTo: (selector: string) => Promise<void>;
  /** Pixels by which the page is wider than its window. */
  readonly overflow: () => Promise<number>;
  /** Writes a picture of the whole page into .screenshots. */
  readonly shoot: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const tabTo = async (page: Page, selector: string): Promise<void> => {
  for (let stop = 0; stop < 200; stop += 1) {
    await page.keyboard.press('Tab');
    const { isIt, outline } = await page.evaluate<{ isIt: boolean; outline: string }>(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return { isIt: document.activeElement.matches(${JSON.stringify(selector)}), outline: outlineStyle + ' ' + outlineWidth };
    })()`);
    if (/none|^\S+ 0px/.test(outline)) throw new Error(`the focus cannot be seen on the way to ${selector}`);
    if (isIt) return;
  }
  throw new Error(`the focus never comes to ${selector}`);
};

const pictures = '.screenshots';

const watch = (page: Page, origin: string): string[] => {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) problems.push(`elsewhere: ${request.url()}`);
  });
  return problems;
};

/** A visitor of the page at an address whose first request brings its token, in a window of its own. */
const visit = async (
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Visit> => {
  const { origin } = new URL(address);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems = watch(page, origin);
  await page.goto(address);
  return {
    page,
    go: async (path) => void (await page.goto(new URL(path, origin).href, { waitUntil: 'load' })),
    problems: () => problems.splice(0),
    axe: async () => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate<AxeResult>('axe.run()');
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    },
    tabTo: (selector) => tabTo(page, selector),
    overflow: () =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    shoot: async (name) => {
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    },
    close: () => context.close(),
  };
};

/** A browser for the tests of a file. */
export const useBrowser = (): ((address: string, options?: BrowserContextOptions) => Promise<Visit>) => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return (address, options) => visit(browser!, address, options);
};
