/** Cookies are shared by all ports of a host; the name keeps ours apart from another program's. */
const plainName = "weir_session";

/** Browsers accept this name only over TLS, from the host itself, and send it nowhere else. */
const hostName = `__Host-${plainName}`;

const nameOf = (secure: boolean): string => (secure ? hostName : plainName);

export const sessionSeconds = 30 * 24 * 3600;

/**
 * `Set-Cookie` for a session: unreadable by scripts, never sent along by another site.
 *
 * @param secret an empty one ends it
 * @param secure whether the browser's connection is encrypted
 */
export const sessionCookie = (secret: string, secure: boolean): string =>
  `${nameOf(secure)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${secret === "" ? 0 : sessionSeconds}${secure ? "; Secure" : ""}`;

/** The session secret in a `Cookie` header; over TLS only that of the name that browsers protect. */
export function sessionSecret(cookieHeader: string | null, secure: boolean): string | null {
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === nameOf(secure) && value !== undefined && value !== "") return value;
  }
  return null;
}

/**
 * A `Cookie` header without the session cookie of the other kind of connection: over TLS only the `__Host-` one counts, since a page of a
 * neighbouring host, or one in plain text, may have set the other. Undefined: nothing is left.
 */
export function ownCookies(cookieHeader: string | undefined, secure: boolean): string | undefined {
  const other = `${nameOf(!secure)}=`;
  const left = (cookieHeader ?? "").split(";").map((pair) => pair.trim());
  return left.filter((pair) => pair !== "" && !pair.startsWith(other)).join("; ") || undefined;
}
