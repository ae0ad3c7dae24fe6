import { BlockList, isIP } from "node:net";

/** The reverse proxies whose `X-Forwarded-*` headers are believed. */
export interface TrustedProxies {
  /** Whether a request that comes from this address comes from such a proxy. */
  readonly trusts: (address: string) => boolean;
}

/**
 * Reads a list of addresses and networks, such as `127.0.0.1, 10.0.0.0/8, fd00::/8`. Nothing is trusted that it does not name, loopback
 * included.
 *
 * @param setting name of the setting, for the error
 * @throws Error with one sentence on an entry that is neither an address nor a network.
 */
export function trustedProxies(list: string, setting: string): TrustedProxies {
  const networks = new BlockList();
  for (const entry of list.split(",").map((text) => text.trim())) {
    if (entry === "") continue;
    const [base = "", prefix, ...rest] = entry.split("/");
    const version = isIP(base);
    const bits = prefix === undefined ? widestPrefix(version) : Number(prefix);
    if (version === 0 || rest.length > 0 || prefix === "" || !Number.isInteger(bits) || bits < 0 || bits > widestPrefix(version))
      throw new Error(`${setting} has "${entry}": give IP addresses and networks such as 10.0.0.4 or 10.0.0.0/8, separated by commas.`);
    networks.addSubnet(base, bits, family(version));
  }
  return {
    trusts(address) {
      const version = isIP(address);
      return version !== 0 && networks.check(address, family(version));
    },
  };
}

const widestPrefix = (version: number): number => (version === 6 ? 128 : 32);
const family = (version: number) => (version === 6 ? "ipv6" : "ipv4");

/** An IP address without the port, brackets, zone and IPv4-in-IPv6 notation that sockets and headers may add; null: it is none. */
export function plainAddress(text: string | undefined): string | null {
  const trimmed = (text ?? "").trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  const unzoned = bare.split("%", 1)[0] ?? "";
  const address = /^::ffff:([\d.]+)$/i.exec(unzoned)?.[1] ?? unzoned;
  return isIP(address) === 0 ? null : address.toLowerCase();
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether an address, or the name `localhost`, is this machine's own loopback. No other name is resolved. */
export function isLoopback(host: string | null): boolean {
  const address = plainAddress(host ?? "");
  return host === "localhost" || (address !== null && loopback.check(address, family(isIP(address))));
}

interface Sender {
  /** Remote address of the connection. */
  readonly peer: string | undefined;
  /** The `X-Forwarded-For` header as received, which whoever sent the request may have written. */
  readonly forwardedFor: string | undefined;
  readonly proxies: TrustedProxies;
}

/**
 * The address of whoever sent a request: of the connection, or, where that is a trusted proxy, the last address of `X-Forwarded-For` that is
 * not one. Everything to the left of it is the sender's own claim. An entry that is no address ends the search.
 *
 * @returns an IP address; "unknown" where the connection has none.
 */
export function clientAddress({ peer, forwardedFor, proxies }: Sender): string {
  let client = plainAddress(peer);
  for (const hop of (forwardedFor ?? "").split(",").reverse()) {
    if (client === null || !proxies.trusts(client)) break;
    const sender = plainAddress(hop);
    if (sender === null) break;
    client = sender;
  }
  return client ?? "unknown";
}
