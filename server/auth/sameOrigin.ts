/**
 * Whether a request comes from the studio's own pages or from no browser at all. Browsers send `Origin` with every POST; a request with
 * neither `Origin` nor `Sec-Fetch-Site` comes from a program.
 */
export function isSameOrigin(headers: Headers): boolean {
  const origin = headers.get("origin");
  if (origin === null) return (headers.get("sec-fetch-site") ?? "same-origin") === "same-origin";
  return URL.canParse(origin) && new URL(origin).host === headers.get("host");
}
