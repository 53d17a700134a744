// Finds the functions of a source text and how many lines each takes, by looking at brackets only.

import { codeOf } from './source-files.ts';

export interface FunctionExtent {
  /** First words of the statement or member that holds the function. */
  readonly head: string;
  readonly firstLine: number;
  readonly lines: number;
}

/** What is open at one place of the code. */
interface Level {
  /** Where the statement, member or argument under way begins. */
  start: number;
  /** The function whose body these braces are. */
  readonly bodyOf: number | undefined;
  /** Starts of arrow functions whose body is an expression on this level. */
  arrows: number[];
}

const control = /^(?:else\s+)?(?:if|for|while|switch|catch|with|do|try|finally)\b/;
const method =
  /^(?:(?:static|async|get|set|override|private|public|protected|readonly)\s+)*\*?\s*#?\w*\s*(?:<[^(]*>)?\(/;
const typeBefore = /[:<|&,(=]\s*$/;

/** Whether a brace behind `head` opens the body of a function. */
const opensBody = (head: string): boolean => {
  if (/=>\s*$/.test(head)) return true;
  if (typeBefore.test(head)) return false;
  if (/\bfunction\b/.test(head)) return true;
  return !control.test(head) && method.test(head);
};

/**
 * Functions, methods and arrows, inner ones included. A body counts from the beginning of its statement or member, so
 * that parameters count, too; a generic argument list at the top of an expression may end that expression early.
 */
export const functionExtents = (text: string): readonly FunctionExtent[] => {
  const code = codeOf(text);
  const found: FunctionExtent[] = [];
  const levels: Level[] = [{ start: 0, bodyOf: undefined, arrows: [] }];
  const lineAt = (at: number): number => text.slice(0, at).split('\n').length;
  const note = (start: number, end: number): void => {
    const from = start + (code.slice(start).match(/^\s*/)?.[0].length ?? 0);
    const firstLine = lineAt(from);
    found.push({
      head: text.slice(from, from + 60).split('\n')[0]!,
      firstLine,
      lines: lineAt(end) - firstLine + 1,
    });
  };
  const endArrows = (level: Level, at: number): void => {
    for (const start of level.arrows) note(start, at);
    level.arrows = [];
  };
  for (let at = 0; at < code.length; at += 1) {
    const level = levels.at(-1)!;
    const character = code[at]!;
    if ('([{'.includes(character)) {
      const head = code.slice(level.start, at).trimStart();
      const bodyOf = character === '{' && opensBody(head) ? level.start : undefined;
      levels.push({ start: at + 1, bodyOf, arrows: [] });
    } else if (')]}'.includes(character)) {
      endArrows(level, at - 1);
      levels.pop();
      const outer = levels.at(-1)!;
      if (level.bodyOf !== undefined) note(level.bodyOf, at);
      // A brace that closes ends a statement, unless it belongs to a pattern or a type within one.
      if (character === '}' && (level.bodyOf !== undefined || isStatementEnd(code, outer.start, at)))
        outer.start = at + 1;
    } else if (character === ';' || character === ',') {
      endArrows(level, at - 1);
      // A comma between the arguments of a return type ends nothing.
      if (character === ';' || !/\bfunction\b/.test(code.slice(level.start, at))) level.start = at + 1;
    } else if (code.startsWith('=>', at) && !/^=>\s*\{/.test(code.slice(at, at + 200)))
      level.arrows.push(level.start);
  }
  return found;
};

/** Whether the block that closes at `at` was a statement of its own: `if (…) { … }`, `class … { … }`. */
const isStatementEnd = (code: string, start: number, at: number): boolean =>
  control.test(code.slice(start, at).trimStart()) ||
  /^(?:export\s+)?(?:class|interface|declare)\b/.test(code.slice(start, at).trimStart());
