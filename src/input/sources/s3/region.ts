// Names and domains of AWS regions.

/** A region becomes part of a host name, and servers may name it. */
export const isRegion = (text: string): boolean => /^[a-z0-9-]{2,40}$/.test(text);

export const domainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
