// Names and domains of AWS regions.

export const isRegion = (text: string): boolean => /^[a-z0-9-]{2,40}$/.test(text);

export const domainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
