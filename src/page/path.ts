// Paths of requests relative to the page's base path.

/** Removes the base path, unless the host has already removed it. */
export const pathUnder = (base: string, url: string): string => {
  const { pathname } = new URL(url);
  return base !== '' && (pathname === base || pathname.startsWith(`${base}/`))
    ? pathname.slice(base.length) || '/'
    : pathname;
};
