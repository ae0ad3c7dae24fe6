import { BlockList, isIP, isIPv6 } from "node:net";

/** The address that a connection comes from, as limits count it. */
export interface ClientAddress {
  /** An IPv4 address, or the /64 network of an IPv6 one, which one client has whole. */
  readonly name: string;
  /** Whether others may be behind it: a proxy on this machine passes on the requests of all its clients. */
  readonly isShared: boolean;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether an address or name is of this machine alone. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || (isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4"));
}

/** @param remoteAddress of the socket; undefined if it is closed. */
export function clientAddress(remoteAddress: string | undefined): ClientAddress {
  const address = (remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  return { name: isIPv6(address) ? networkOf(address) : address, isShared: isLoopback(address) };
}

/** The first four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [front = "", back] = address.split("%", 1)[0]?.split("::") ?? [];
  const groups = (text: string | undefined): string[] => (text === undefined || text === "" ? [] : text.split(":"));
  const [head, tail] = [groups(front), groups(back)];
  const zeros = back === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}
