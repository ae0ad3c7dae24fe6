import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ownCookies } from "@/server/auth/sessionCookie";
import { clientAddress, isLoopback, plainAddress } from "@/server/lib/clientAddress";
import { isEncrypted } from "@/server/lib/tlsServer";
import { verifiedHeaders } from "@/server/lib/verifiedHeaders";
import type { FrontSettings } from "./frontSettings";
import { type RequestRefusal, requestRefusal } from "./requestRefusal";
import { contentPolicy, securityHeaders } from "./securityHeaders";

interface ListenerOptions extends Pick<FrontSettings, "tls" | "proxies" | "hosts"> {
  /** Answers the requests that are not refused. */
  readonly handle: RequestListener;
  /** Hears of each request that is refused here, for the audit. */
  readonly onRefused: (refused: RefusedRequest) => void;
}

export interface RefusedRequest {
  /** IP address of the sender. */
  readonly address: string;
  /** Method and path, without the query. */
  readonly request: string;
  readonly message: string;
}

const healthPath = "/api/health";

/**
 * The first listener of every request to the studio. It finds out who sent the request, refuses what `requestRefusal` refuses, replaces the
 * headers that describe the sender by verified ones, and puts the security headers on the answer, whoever writes it.
 */
export function studioListener({ tls, proxies, hosts, handle, onRefused }: ListenerOptions): RequestListener {
  return (request, response) => {
    const { headers, method = "" } = request;
    const peer = plainAddress(request.socket.remoteAddress);
    const isProxied = peer !== null && proxies.trusts(peer);
    const secure = isEncrypted(request) || (isProxied && lastOf(headers["x-forwarded-proto"]) === "https");
    const host = (isProxied ? lastOf(headers["x-forwarded-host"]) : undefined) ?? headers.host;
    const address = clientAddress({ peer: request.socket.remoteAddress, forwardedFor: joined(headers["x-forwarded-for"]), proxies });
    const nonce = randomBytes(16).toString("base64");
    for (const name of Object.keys(headers)) if (isClaim(name)) delete headers[name];
    if (host !== undefined) headers.host = host;
    addUnlessSet(response, securityHeaders({ nonce, secure }));

    const refused = requestRefusal({ method, target: request.url ?? "", secure, headers }, hosts);
    if (refused !== null) {
      onRefused({ address, request: `${method} ${(request.url ?? "").split("?", 1)[0]}`, message: refused.message });
      return refuse(response, refused);
    }
    // A launcher on this machine connects from the address that the studio listens on.
    const isHealthCheck = request.url === healthPath && peer === plainAddress(request.socket.localAddress);
    const mayBePlain = isProxied || isHealthCheck || (isLoopback(peer) && (tls === null || request.url === healthPath));
    if (!isEncrypted(request) && !mayBePlain) return redirectToTls(request, response, tls !== null);

    const cookie = ownCookies(headers.cookie, secure);
    if (cookie === undefined) delete headers.cookie;
    else headers.cookie = cookie;
    headers[verifiedHeaders.clientAddress] = address;
    if (secure) headers[verifiedHeaders.secure] = "1";
    headers["x-forwarded-for"] = address;
    headers["x-forwarded-proto"] = secure ? "https" : "http";
    headers["x-forwarded-host"] = host;
    // From here Next reads the nonce that it puts on its scripts.
    headers["content-security-policy"] = contentPolicy({ nonce });
    handle(request, response);
  };
}

/** Headers by which a sender could speak for the front, or for a proxy. */
const isClaim = (name: string): boolean =>
  name.startsWith("x-forwarded-") ||
  name.startsWith("content-security-policy") ||
  [...Object.values<string>(verifiedHeaders), "forwarded", "x-real-ip"].includes(name);

const joined = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(",");

/** The value that the nearest proxy added. */
const lastOf = (value: string | readonly string[] | undefined): string | undefined => joined(value)?.split(",").at(-1)?.trim() || undefined;

/** Adds headers when the answer begins, unless its route has set them. */
function addUnlessSet(response: ServerResponse, added: Readonly<Record<string, string>>): void {
  const writeHead = response.writeHead.bind(response) as (...rest: unknown[]) => ServerResponse;
  response.writeHead = (...rest: unknown[]) => {
    const given = rest.find((one) => typeof one === "object" && one !== null && !Array.isArray(one)) ?? {};
    const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
    for (const [name, value] of Object.entries(added)) if (!names.has(name) && !response.hasHeader(name)) response.setHeader(name, value);
    return writeHead(...rest);
  };
}

function refuse(response: ServerResponse, { status, message }: Pick<RequestRefusal, "message"> & { readonly status: number }): void {
  // Its body is not read.
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", connection: "close" });
  response.end(JSON.stringify({ message }));
}

/** The host was checked before: the address is the studio's own. */
function redirectToTls({ method, url, headers }: IncomingMessage, response: ServerResponse, hasTls: boolean): void {
  if (hasTls && method === "GET") response.writeHead(308, { location: `https://${headers.host}${url}`, connection: "close" }).end();
  else refuse(response, { status: 403, message: "The studio answers other machines over TLS only." });
}
