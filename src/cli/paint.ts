// Colours for terminals. The variables NO_COLOR, FORCE_COLOR and TERM=dumb turn them off or on.

import { styleText } from 'node:util';
import type { Output } from './io.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export type Paint = (style: Style, text: string) => string;

/** NO_COLOR (https://no-color.org) overrides FORCE_COLOR, which overrides the kind of stream. */
const wantsColour = (output: Output, env: NodeJS.ProcessEnv): boolean => {
  if (env['NO_COLOR']) return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  return Boolean(output.isTTY) && env['TERM'] !== 'dumb';
};

const plain: Paint = (_, text) => text;

// validateStream: true would check stdout, but most coloured text goes to stderr.
const colourful: Paint = (style, text) =>
  text === '' ? '' : styleText(style, text, { validateStream: false });

export const paintFor = (output: Output, env: NodeJS.ProcessEnv): Paint =>
  wantsColour(output, env) ? colourful : plain;
