// The address of a heading, as GitHub makes it: so that a link leads to it on GitHub and on the site.

/** What GitHub makes of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
