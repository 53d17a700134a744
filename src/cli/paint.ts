// Colours, where they are wanted: a terminal, or FORCE_COLOR; never with NO_COLOR or TERM=dumb.

import { styleText } from 'node:util';
import type { Output } from './io.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** NO_COLOR (https://no-color.org) wins over FORCE_COLOR, which wins over what the stream is. */
const wantsColour = (output: Output, env: NodeJS.ProcessEnv): boolean => {
  if (env['NO_COLOR']) return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  return Boolean(output.isTTY) && env['TERM'] !== 'dumb';
};

const plain: Paint = (_, text) => text;

// validateStream would ask stdout, and we mostly write to stderr.
const colourful: Paint = (style, text) =>
  text === '' ? '' : styleText(style, text, { validateStream: false });

/** The paint that fits the stream and the environment. */
export const paintFor = (output: Output, env: NodeJS.ProcessEnv): Paint =>
  wantsColour(output, env) ? colourful : plain;
