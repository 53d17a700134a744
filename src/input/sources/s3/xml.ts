// Reads the XML of S3 and of the token service: every value is a text, as it was written.

import { XMLParser } from 'fast-xml-parser';

const parser = new XMLParser({
  // A key such as 001 is no number, and one may end with a blank.
  parseTagValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  // Characters by their numbers, too.
  htmlEntities: true,
  isArray: (name) => name === 'Contents',
});

/** The document, or an empty one for what is no XML. */
export const parseXml = (text: string): unknown => {
  try {
    return parser.parse(text);
  } catch {
    return {};
  }
};

/** What is at this path of elements. */
export const elementAt = (document: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (element, name) =>
      typeof element === 'object' && element !== null && Object.hasOwn(element, name)
        ? (element as Record<string, unknown>)[name]
        : undefined,
    document,
  );

/** The text at this path; undefined: there is none. */
export const textAt = (document: unknown, ...path: readonly string[]): string | undefined => {
  const text = elementAt(document, ...path);
  return typeof text === 'string' ? text : undefined;
};
