import { isIPv6 } from "node:net";
import { isLoopback, plainAddress } from "@/server/lib/clientAddress";

/** The address that a connection comes from, as limits count it. */
export interface ClientAddress {
  /** An IPv4 address, or the /64 network of an IPv6 address: one client usually has a whole network of this size. */
  readonly name: string;
  /** Whether several clients may share it: a proxy on this machine passes on the requests of all its clients. */
  readonly isShared: boolean;
}

/** @param remoteAddress of the socket; undefined if it is closed. */
export function clientAddress(remoteAddress: string | undefined): ClientAddress {
  const address = plainAddress(remoteAddress) ?? "";
  return { name: isIPv6(address) ? networkOf(address) : address, isShared: isLoopback(address) };
}

/** The first four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [front = "", back] = address.split("::");
  const groups = (text: string | undefined): string[] => (text === undefined || text === "" ? [] : text.split(":"));
  const [head, tail] = [groups(front), groups(back)];
  const zeros = back === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}
