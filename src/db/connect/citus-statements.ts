// Makes multi-statement queries that Citus can pass on to its nodes.
//
// Citus sends the text of a query with DDL on a distributed table to its nodes as a prepared
// statement, which cannot have several commands. So each such statement is executed on its own by a
// `do` block: the query stays one, with its transaction and its one answer.

import { quoteText } from '../sql.ts';

/** Matches what may contain a semicolon: names, texts, dollar-quoted texts, comments; and `;`. */
const parts =
  /"(?:[^"]|"")*"|(?<![\w$])[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|(?<![\w$])\$([A-Za-z_]\w*)?\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/|;/g;

const split = (text: string): readonly string[] => {
  const ends = [...text.matchAll(parts)].flatMap(({ 0: part, index }) => (part === ';' ? [index] : []));
  return [...ends, text.length].map((end, place) => text.slice(place === 0 ? 0 : ends[place - 1]! + 1, end));
};

const isPassedOn = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:alter|comment|create|drop|grant|revoke|truncate)\b/i;

/** The body of such a function has semicolons outside of quotes. */
const hasBody = /\bbegin\s+atomic\b/i;

export const eachOnItsOwn = (text: string): string => {
  if (!text.includes(';') || hasBody.test(text)) return text;
  const statements = split(text).filter((statement) => statement.trim() !== '');
  if (statements.length < 2) return text;
  return statements
    .map((statement) =>
      isPassedOn.test(statement)
        ? `do ${quoteText(`begin execute ${quoteText(statement)}; end`)}`
        : statement,
    )
    .join(';');
};
