// Names and domains of AWS regions.

/** True if a text may be a region. It becomes part of a host name, and servers may name it. */
export const isRegion = (text: string): boolean => /^[a-z0-9-]{2,40}$/.test(text);

/** The domain of a region's services. */
export const domainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
