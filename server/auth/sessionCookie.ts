/** Cookies are shared by all ports of a host; the name keeps ours apart from another program's. */
export const sessionCookieName = "weir_session";

export const sessionSeconds = 30 * 24 * 3600;

/** `Set-Cookie` for a session: unreadable by scripts, never sent along by another site. */
export const sessionCookie = (secret: string): string =>
  `${sessionCookieName}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${sessionSeconds}`;

/** The session secret in a `Cookie` header. */
export function sessionSecret(cookieHeader: string | null): string | null {
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === sessionCookieName && value !== undefined && value !== "") return value;
  }
  return null;
}
