/** Ends of addresses that people copy: the paths of requests follow the root, and only the root is kept. */
const apiEnds =
  /\/(v1(\/(chat\/completions|completions|models|embeddings|rerank|score|responses))?|health|metrics|version|docs|openapi\.json|server_info|get_server_info|props)$/;

/** An address, or why there is none, in a sentence without its beginning; nothing that may be a secret is repeated. */
export type Address = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly fault: string };

const refuse = (fault: string): Address => ({ ok: false, fault });

/** What people show of themselves when they are asked for an address: bare names are words. */
const hostAndPort = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?):\d{1,5}(\/|$)/i;

const scheme = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * The root of an engine's API in user input: a URL, with or without `/v1` or one of its paths, or a host with its port.
 *
 * @example addressOf("gpu-1:8000/v1/") // { ok: true, url: "http://gpu-1:8000" }
 */
export function addressOf(written: string): Address {
  const given = scheme.exec(written)?.[1]?.toLowerCase();
  if (given !== undefined && given !== "http" && given !== "https") return refuse(`${given}:// is no http or https address`);
  if (given === undefined && !hostAndPort.test(written))
    return refuse("that is neither a URL nor a host with its port, such as gpu-1:8000");
  let url: URL;
  try {
    url = new URL(given === undefined ? `${/:443(\/|$)/.test(written) ? "https" : "http"}://${written}` : written);
  } catch {
    return refuse("that is no address that can be asked");
  }
  if (url.username !== "" || url.password !== "") return refuse("the address holds a user or a password, which Weir does not send");
  if (url.search !== "") return refuse("the address ends in a query, which Weir does not send");
  const path = url.pathname.replace(/\/+$/, "").replace(apiEnds, "").replace(/\/+$/, "");
  return { ok: true, url: `${url.origin}${path}` };
}

/** The same for every spelling of an address: names of this machine's loopback are one. */
export function oneAddress(url: string): string {
  const { hostname, host, protocol, port, pathname } = new URL(url);
  const shown = /^(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])$/.test(hostname) ? `localhost${port === "" ? "" : `:${port}`}` : host;
  return `${protocol}//${shown}${pathname.replace(/\/+$/, "")}`;
}

/** Why a text is not the root of an API as it is kept, in a sentence; null where it is. */
export function addressFault(text: string): string | null {
  const address = addressOf(text);
  if (!address.ok) return `${address.fault}.`.replace(/^./, (letter) => letter.toUpperCase());
  return address.url === text ? null : `The root of an engine's API is wanted, here ${address.url}.`;
}
