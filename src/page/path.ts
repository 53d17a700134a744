// The path of a request as our routes know it.

/** A host may have taken its own part off already. */
export const pathUnder = (base: string, url: string): string => {
  const { pathname } = new URL(url);
  return base !== '' && (pathname === base || pathname.startsWith(`${base}/`))
    ? pathname.slice(base.length) || '/'
    : pathname;
};
