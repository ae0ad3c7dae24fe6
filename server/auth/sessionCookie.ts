/** Cookies are shared by all ports of a host; the name keeps ours apart from another program's. */
const plainName = "weir_session";

/** Browsers accept this name only over TLS, for this host alone, and not from another path or a sub-domain. */
const secureName = "__Host-weir_session";

export const sessionSeconds = 30 * 24 * 3600;

/** `Set-Cookie` for a session: unreadable by scripts, never sent along by another site. An empty secret ends it. */
export function sessionCookie(secret: string, secure: boolean): string {
  const [name, flag] = secure ? [secureName, "; Secure"] : [plainName, ""];
  return `${name}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${secret === "" ? 0 : sessionSeconds}${flag}`;
}

/** The session secret in a `Cookie` header; over TLS only that of the name that browsers protect. */
export function sessionSecret(cookieHeader: string | null, secure: boolean): string | null {
  const wanted = secure ? secureName : plainName;
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === wanted && value !== undefined && value !== "") return value;
  }
  return null;
}
