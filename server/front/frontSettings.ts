import { isLoopback, plainAddress, type TrustedProxies, trustedProxies } from "@/server/lib/clientAddress";
import { studioSettings } from "@/server/lib/studioSettings";
import { type TlsFiles, tlsFiles } from "@/server/lib/tlsServer";
import type { AllowedHosts } from "./requestRefusal";

/** How the studio listens, and whom it answers. */
export interface FrontSettings {
  readonly address: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly proxies: TrustedProxies;
  readonly hosts: AllowedHosts;
}

const usualPort = 4600;

/**
 * Reads the settings from the environment.
 *
 * @throws Error with one sentence on a malformed one, and where the studio would answer other machines in plain text.
 */
export function frontSettings(environment: Readonly<Record<string, string | undefined>>): FrontSettings {
  const address = environment.WEIR_STUDIO_ADDRESS || "127.0.0.1";
  if (plainAddress(address) === null) throw new Error(`WEIR_STUDIO_ADDRESS is "${address}": give an IP address, such as 0.0.0.0.`);
  const port = Number(environment.WEIR_STUDIO_PORT ?? usualPort);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`WEIR_STUDIO_PORT is "${environment.WEIR_STUDIO_PORT}": give a port from 1 to 65535.`);
  const tls = tlsFiles(environment);
  const proxyList = environment.WEIR_TRUSTED_PROXIES ?? "";
  if (!isLoopback(plainAddress(address)) && tls === null && proxyList.trim() === "")
    throw new Error(
      `The studio is to listen on ${address} in plain text: set WEIR_TLS_CERT_FILE and WEIR_TLS_KEY_FILE, or WEIR_TRUSTED_PROXIES to the address of the proxy that adds TLS.`,
    );
  return {
    address,
    port,
    tls,
    proxies: trustedProxies(proxyList, "WEIR_TRUSTED_PROXIES"),
    hosts: hostsOf(environment, plainAddress(address) ?? address, port),
  };
}

/** Loopback names and the address with the studio's port, the host of its URL, and the hosts that are named. */
function hostsOf(environment: Readonly<Record<string, string | undefined>>, address: string, port: number): AllowedHosts {
  const { studioUrl } = studioSettings(environment);
  if (!URL.canParse(studioUrl)) throw new Error(`WEIR_STUDIO_URL is "${studioUrl}": give an address such as https://weir.example.com.`);
  const { protocol, hostname, port: urlPort } = new URL(studioUrl);
  const named = (environment.WEIR_STUDIO_HOSTS ?? "").split(",").map((host) => host.trim().toLowerCase());
  const malformed = named.find((host) => host !== "" && !/^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(host));
  if (malformed !== undefined)
    throw new Error(`WEIR_STUDIO_HOSTS has "${malformed}": give host names such as weir.example.com or weir.example.com:8443.`);
  const { hostname: own } = new URL(address.includes(":") ? `http://[${address}]` : `http://${address}`);
  const ownNames = ["0.0.0.0", "[::]"].includes(own) ? [] : [own];
  return new Set([
    ...["127.0.0.1", "localhost", "[::1]", ...ownNames].map((name) => `${name}:${port}`),
    `${hostname}:${urlPort || (protocol === "https:" ? "443" : "80")}`,
    ...named.filter((host) => host !== ""),
  ]);
}
