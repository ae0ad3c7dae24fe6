import { BlockList, isIP } from "node:net";

/** Addresses at which clouds answer every process of a machine with credentials, or that no router passes on. IPv4 subnets. */
const refusedV4: readonly (readonly [net: string, prefix: number])[] = [
  ["169.254.0.0", 16],
  // Metadata of Alibaba Cloud, of Oracle Cloud, and Azure's host agent.
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["168.63.129.16", 32],
];

const refusedV6: readonly (readonly [net: string, prefix: number])[] = [
  ["fe80::", 10],
  // Metadata of AWS and of Google Cloud.
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
];

/** Names that mean such an address, wherever they lead. */
const refusedNames: readonly string[] = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/** IPv6 forms of an IPv4 subnet: mapped (RFC 4291), compatible (RFC 4291), NAT64 (RFC 6052) and 6to4 (RFC 3056). */
function embedded([net, prefix]: readonly [string, number]): readonly (readonly [string, number])[] {
  const hex = net.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
  return [
    [`::ffff:${net}`, 96 + prefix],
    [`::${net}`, 96 + prefix],
    [`64:ff9b::${net}`, 96 + prefix],
    [`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::`, 16 + prefix],
  ];
}

const refused = new BlockList();
for (const [net, prefix] of refusedV4) refused.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [...refusedV6, ...refusedV4.flatMap(embedded)]) refused.addSubnet(net, prefix, "ipv6");

/** Exceptions that an operator names. */
export interface AllowedAddresses {
  readonly addresses: BlockList;
  readonly names: ReadonlySet<string>;
}

const plainIp = (address: string): string => address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");

const isIn = (list: BlockList, ip: string): boolean => list.check(ip, isIP(ip) === 4 ? "ipv4" : "ipv6");

/**
 * Whether no request goes to an IP address unless an operator names it: a link-local one, or one of a cloud's metadata service, also where
 * an IPv6 form holds it. What is no IP address is refused. Private and loopback addresses are allowed, since engines are there.
 *
 * @param address an IPv4 address with four decimal parts, or an IPv6 address, with or without brackets and zone.
 */
export function isRefusedAddress(address: string, allowed?: AllowedAddresses): boolean {
  const ip = plainIp(address);
  if (isIP(ip) === 0) return true;
  return isIn(refused, ip) && !(allowed !== undefined && isIn(allowed.addresses, ip));
}

/** The same for a host of a URL; a name is refused only if it is a metadata service's: its addresses are checked when it is resolved. */
export function isRefusedHost(host: string, allowed?: AllowedAddresses): boolean {
  if (isIP(plainIp(host)) !== 0) return isRefusedAddress(host, allowed);
  const name = host.toLowerCase().replace(/\.$/, "");
  return refusedNames.includes(name) && allowed?.names.has(name) !== true;
}

/**
 * The exceptions in a list, separated by commas or spaces: IP addresses, subnets such as `169.254.0.0/16`, and names.
 *
 * @throws Error with a sentence about the first entry that is none of these.
 */
export function readAllowedAddresses(list: string): AllowedAddresses {
  const addresses = new BlockList();
  const names = new Set<string>();
  for (const entry of list.split(/[\s,]+/).filter((one) => one !== "")) {
    const [net = "", prefix] = entry.split("/");
    const family = isIP(net);
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix);
    if (family !== 0 && /^\d*$/.test(prefix ?? "") && bits >= 0 && bits <= (family === 4 ? 32 : 128))
      addresses.addSubnet(net, bits, family === 4 ? "ipv4" : "ipv6");
    else if (refusedNames.includes(entry.toLowerCase())) names.add(entry.toLowerCase());
    else throw new Error(`WEIR_ALLOWED_ADDRESSES holds ${entry}, which is no IP address, no subnet and no name of a metadata service.`);
  }
  return { addresses, names };
}
