import dns from "node:dns";
import type { LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { EngineAccessError } from "./engineAccessError";
import { type AllowedAddresses, isRefusedAddress, isRefusedHost, readAllowedAddresses } from "./refusedAddress";

let known: { readonly list: string; readonly allowed: AllowedAddresses } | null = null;

/**
 * The exceptions of `WEIR_ALLOWED_ADDRESSES`.
 *
 * @throws Error with a sentence about an entry that cannot be read.
 */
export function allowedAddresses(): AllowedAddresses {
  const list = process.env.WEIR_ALLOWED_ADDRESSES ?? "";
  if (known?.list !== list) known = { list, allowed: readAllowedAddresses(list) };
  return known.allowed;
}

function refusal(host: string, address: string | null = null): EngineAccessError {
  const where = address === null || address === host ? host : `${host} leads to ${address}, which`;
  return new EngineAccessError(
    `${where} is a link-local address or that of a metadata service, where machines keep credentials: name it in WEIR_ALLOWED_ADDRESSES if it is to be asked`,
    "address",
  );
}

/**
 * Resolves a name as the system does, and refuses it if any of its addresses is refused. Connections use the addresses that were checked, so
 * that a name that leads elsewhere a moment later gains nothing.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const refused = addresses.find(({ address }) => isRefusedAddress(address, allowedAddresses()));
    if (refused !== undefined) return callback(refusal(hostname, refused.address), []);
    if (options.all === true) return callback(null, addresses);
    callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  });
};

/** Why nothing is sent to a host of a URL; null: it may be asked. The addresses of a name are not looked up here. */
export const hostRefusal = (host: string): EngineAccessError | null => (isRefusedHost(host, allowedAddresses()) ? refusal(host) : null);

/** Creates connections to addresses that users choose; refuses with an `EngineAccessError` before anything is connected. */
export function guardedConnector({
  timeoutMs,
  ca = null,
}: {
  readonly timeoutMs: number;
  /** PEM of the authorities, in place of the public ones. */
  readonly ca?: string | null;
}): buildConnector.connector {
  const options = { timeout: timeoutMs, lookup: guardedLookup, ...(ca === null ? {} : { ca }) } as buildConnector.BuildOptions;
  const connect = buildConnector(options);
  return (target, callback) => {
    const refused = hostRefusal(target.hostname);
    if (refused !== null) return callback(refused, null);
    connect(target, callback);
  };
}
