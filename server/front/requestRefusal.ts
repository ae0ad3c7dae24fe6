/** What decides whether a request may reach the studio at all, before any route and any session. */
export interface RequestFacts {
  readonly method: string;
  /** The target of the request line, as received. */
  readonly target: string;
  /** Whether the browser's connection is encrypted. */
  readonly secure: boolean;
  /** Lower-case names; `host` is the one that the browser asked for. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Names under which the studio may be asked: `name:port`, or `name` alone for every port. Lower case. */
export type AllowedHosts = ReadonlySet<string>;

export interface RequestRefusal {
  readonly kind: "unknown-host" | "malformed-target" | "method" | "prefetch" | "other-site" | "content-type";
  readonly status: 400 | 403 | 405 | 415 | 421;
  readonly message: string;
}

/** Routes that read and change: no address of them is ever opened as a page. */
const callPaths = /^\/api\/(?:trpc|uploads)(?:\/|$)/;
const apiPaths = /^\/api(?:\/|$)/;
const uploadPaths = /^\/api\/uploads(?:\/|$)/;

/**
 * Why a request is refused, or null. Holds for every method and path:
 *
 * - The `Host` is one of the studio's names. A page whose name was made to point to this machine (DNS rebinding) has another one.
 * - Methods are GET, HEAD and POST. HEAD and prefetches reach no route under `/api` but the health check: a one-time link that a mail
 *   scanner or a browser looks at is not used up.
 * - Another origin, another port of this host included, may only open a page in a tab.
 * - A POST has the content type of its route, which no form and no request without a CORS preflight can have: `application/octet-stream`
 *   for uploads, `application/json` otherwise.
 *
 * A request with neither `Origin` nor `Sec-Fetch-Site` comes from no current browser; its session or token decides.
 */
export function requestRefusal(facts: RequestFacts, hosts: AllowedHosts): RequestRefusal | null {
  const { method, target, headers } = facts;
  if (!isAllowedHost(text(headers.host), facts.secure, hosts))
    return refusal("unknown-host", 421, "The studio is not served under this host name: add it to WEIR_STUDIO_HOSTS if it should be.");
  const path = pathOf(target);
  if (path === null) return refusal("malformed-target", 400, "The address of the request is malformed.");
  if (method !== "GET" && method !== "HEAD" && method !== "POST") return wrongMethod(method);
  if (method === "HEAD" && apiPaths.test(path) && path !== "/api/health") return wrongMethod(method);
  if (method === "POST" && !apiPaths.test(path)) return wrongMethod(method);
  if (apiPaths.test(path) && [headers["sec-purpose"], headers.purpose].some((purpose) => text(purpose).includes("prefetch")))
    return refusal("prefetch", 403, "The studio refuses prefetches of this address.");
  if (!isOwnOrigin(facts) && !(method === "GET" && opensPage(facts) && !callPaths.test(path)))
    return refusal("other-site", 403, "The request was refused: it came from another site.");
  if (method === "POST") {
    const wanted = uploadPaths.test(path) ? "application/octet-stream" : "application/json";
    const sent = text(headers["content-type"]).split(";", 1)[0]?.trim().toLowerCase();
    if (sent !== wanted) return refusal("content-type", 415, `The body must be sent as ${wanted}.`);
  }
  return null;
}

/** A header that was sent once; several values are none. */
const text = (value: string | readonly string[] | undefined): string => (typeof value === "string" ? value : "");

const refusal = (kind: RequestRefusal["kind"], status: RequestRefusal["status"], message: string): RequestRefusal => ({
  kind,
  status,
  message,
});

const wrongMethod = (method: string): RequestRefusal => refusal("method", 405, `${method} is not served here.`);

function isAllowedHost(host: string, secure: boolean, hosts: AllowedHosts): boolean {
  const [, name = "", port = secure ? "443" : "80"] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  return name !== "" && (hosts.has(name) || hosts.has(`${name}:${port}`));
}

/**
 * The path of a target with its escapes decoded, so that two spellings of one path are judged alike; null where the target is no path, or
 * where a router might resolve it to another one.
 */
function pathOf(target: string): string | null {
  const raw = target.split(/[?#]/, 1)[0] ?? "";
  if (!raw.startsWith("/") || raw.includes("//") || !URL.canParse(raw, "http://studio")) return null;
  if (new URL(raw, "http://studio").pathname !== raw) return null;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/** Whether the request's own headers name the studio's origin, or none. */
function isOwnOrigin({ headers, secure }: RequestFacts): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  const { origin } = headers;
  if (origin === undefined) return true;
  const own = `${secure ? "https" : "http"}://${text(headers.host)}`;
  return URL.canParse(text(origin)) && URL.canParse(own) && new URL(text(origin)).origin === new URL(own).origin;
}

/** A link that is followed, or an address that is entered: the answer becomes the page of a tab, unread by the page with the link. */
const opensPage = ({ headers }: RequestFacts): boolean =>
  headers.origin === undefined && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
