// Parses the XML of S3 and of the token service. All values stay texts.

import { XMLParser } from 'fast-xml-parser';

const parser = new XMLParser({
  // A key such as 001 is not a number, and a key may end with a blank.
  parseTagValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  htmlEntities: true,
  isArray: (name) => name === 'Contents',
});

export const parseXml = (text: string): unknown => {
  try {
    return parser.parse(text);
  } catch {
    return {};
  }
};

export const elementAt = (document: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (element, name) =>
      typeof element === 'object' && element !== null && Object.hasOwn(element, name)
        ? (element as Record<string, unknown>)[name]
        : undefined,
    document,
  );

export const textAt = (document: unknown, ...path: readonly string[]): string | undefined => {
  const text = elementAt(document, ...path);
  return typeof text === 'string' ? text : undefined;
};
