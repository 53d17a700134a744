// Names of AWS regions, and the domains that they are in.

/** What may become part of a host name: a server names the region of a bucket, and is not trusted with more. */
export const isRegion = (text: string): boolean => /^[a-z0-9-]{2,40}$/.test(text);

/** The domain of a region's services. */
export const domainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
