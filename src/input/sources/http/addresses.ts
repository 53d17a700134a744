// Finds addresses that are not public. Requests go there only if the pipeline allows it.

import { lookup as resolveName, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8], // this machine
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, with metadata services of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const)
  notPublic.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127], // unspecified, and loopback
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['2002::', 16], // 6to4, out of use; contains an IPv4 address
] as const)
  notPublic.addSubnet(network, prefix, 'ipv6');

/** Returns the IPv4 address that a NAT64 address (RFC 6052) contains. */
const translated = (address: string): string | undefined => {
  const found = /^64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/i.exec(address);
  if (found === null) return undefined;
  const [high, low] = [found[1] ?? '0', found[2]!].map((group) => Number.parseInt(group, 16));
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.');
};

export const isPrivate = (address: string): boolean => {
  const plain = translated(address) ?? address;
  return notPublic.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
};

export class PrivateAddress extends Error {
  constructor(host: string, address: string) {
    super(`${host === address ? 'it is' : `${host} is ${address},`} a private address`);
  }
}

type Answered = (error: Error | null, addresses?: LookupAddress[] | string, family?: number) => void;

/** Resolves a name, and fails if any address is private. Node connects only to the results. */
export const lookupPublic = ((host: string, options: LookupOptions, answered: Answered): void => {
  resolveName(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return answered(error);
    const refused = addresses.find(({ address }) => isPrivate(address));
    if (refused !== undefined) return answered(new PrivateAddress(host, refused.address));
    if (options.all === true) return answered(null, addresses);
    return answered(null, addresses[0]!.address, addresses[0]!.family);
  });
}) as LookupFunction;
