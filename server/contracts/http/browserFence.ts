import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/**
 * Why a request may come from a web page of someone else: it names a host under which the server is not known, as a page does whose name was
 * rebound to this address, or it comes from another origin.
 */
export type FenceRefusal = "unknown-host" | "other-origin";

/** Types of bodies that a page of another origin cannot send without being asked first, and no server here answers that question. */
const bodyTypes: ReadonlySet<string> = new Set(["application/json", "application/octet-stream"]);

const hostForm = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d+)?$/;
/** What browsers say of a request that a page makes, except by its own server or its user. */
const foreignSites: ReadonlySet<string | undefined> = new Set(["cross-site", "same-site"]);

/**
 * Whether a request may be one that a browser makes for a page of another origin; null if it is not. Addresses and `localhost` are known
 * hosts: no page can have one as its rebound name.
 *
 * @param hosts further names, in small letters.
 */
export function fenceRefusal(headers: IncomingHttpHeaders, hosts: ReadonlySet<string>): FenceRefusal | null {
  const host = headers.host?.toLowerCase();
  // HTTP/1.0, which no browser speaks.
  if (host !== undefined && host !== lastAddress && !isKnown(host, hosts)) return "unknown-host";
  const origin = headers.origin?.toLowerCase();
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) return "other-origin";
  return foreignSites.has(String(headers["sec-fetch-site"])) ? "other-origin" : null;
}

/** Whether a request has a body of a type that a page of another origin can send. */
export function isForeignBody(headers: IncomingHttpHeaders): boolean {
  const type = headers["content-type"];
  if (type !== undefined && bodyTypes.has(type)) return false;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !bodyTypes.has(type?.split(";", 1)[0]?.trim().toLowerCase() ?? "");
}

/** The host of the last request that named an address or `localhost`: most requests to a server name the same. */
let lastAddress = "";

function isKnown(host: string, hosts: ReadonlySet<string>): boolean {
  const name = hostForm.exec(host)?.[1]?.replace(/\.$/, "");
  if (name === undefined) return false;
  const isAddress = name === "localhost" || name.endsWith(".localhost") || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  if (isAddress) lastAddress = host;
  return isAddress || hosts.has(name);
}
