// The project's own files as text, and their code without comments, strings, templates and patterns.

import { ok as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Files below a directory of the project whose names end in one of these, in a fixed order. */
export const filesBelow = (directory: string, ...endings: readonly string[]): readonly SourceFile[] => {
  const found = readdirSync(join(root, directory), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  // A rule of no files holds.
  assert(found.length > 0, `no files below ${directory}`);
  return found;
};

export const readProjectFile = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What a fenced block with this info string holds, line by line; blank lines are left out. */
export const fencedLines = (markdown: string, info: string): readonly string[] => {
  const [, block = ''] = markdown.split(`\`\`\`${info}\n`);
  return block
    .split('\n```')[0]!
    .split('\n')
    .filter((line) => line.trim() !== '');
};

// After these a slash begins a pattern; after a value it divides.
const beforePattern = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|await|yield|throw))\s*$/;

const endOfLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
};

const endOfString = (text: string, at: number): number => {
  let end = at + 1;
  while (end < text.length && text[end] !== text[at] && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
};

const endOfPattern = (text: string, at: number): number => {
  let isInClass = false;
  let end = at + 1;
  for (; end < text.length && (isInClass || text[end] !== '/') && text[end] !== '\n'; end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '[') isInClass = true;
    else if (text[end] === ']') isInClass = false;
  }
  return end + 1;
};

/** End of the literal part of a template that begins at `at`: after its backtick, or at the `${` that interrupts it. */
const endOfTemplatePart = (text: string, at: number): { end: number; isOpen: boolean } => {
  for (let end = at; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '`') return { end: end + 1, isOpen: false };
    else if (text[end] === '$' && text[end + 1] === '{') return { end: end + 2, isOpen: true };
  }
  return { end: text.length, isOpen: false };
};

/**
 * The text with everything blanked that is not code; offsets and lines stay. What `${…}` holds is code, its braces are
 * blanked with the template around it.
 */
export const codeOf = (text: string): string => {
  const blank = (from: number, to: number): string => text.slice(from, to).replace(/[^\n]/g, ' ');
  /** Depth of braces at which each open template goes on. */
  const templates: number[] = [];
  let depth = 0;
  let code = '';
  const take = (end: number): void => {
    code += blank(code.length, Math.min(end, text.length));
  };
  const takeTemplate = (from: number): void => {
    const { end, isOpen } = endOfTemplatePart(text, from);
    take(end);
    if (isOpen) templates.push(depth);
  };
  while (code.length < text.length) {
    const at = code.length;
    const character = text[at]!;
    const two = text.slice(at, at + 2);
    if (two === '//' || (at === 0 && two === '#!')) take(endOfLine(text, at));
    else if (two === '/*') take(text.indexOf('*/', at) + 2);
    else if (character === "'" || character === '"') take(endOfString(text, at));
    else if (character === '`') takeTemplate(at + 1);
    else if (character === '/' && beforePattern.test(code.slice(-40))) take(endOfPattern(text, at));
    else if (character === '}' && templates.at(-1) === depth) {
      templates.pop();
      takeTemplate(at + 1);
    } else {
      if (character === '{') depth += 1;
      if (character === '}') depth -= 1;
      code += character;
    }
  }
  return code;
};
