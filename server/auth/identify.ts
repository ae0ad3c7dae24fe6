import type { Caller } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { lesserRole } from "./roles";
import { hashSecret, sameHash } from "./secret";
import { sessionSecret } from "./sessionCookie";

/** Header in which the studio's page sends its page token. */
export const pageTokenHeader = "x-weir-page-token";

/** A browser that nobody used for a week signs in again. */
export const idleLimitMs = 7 * 24 * 3_600_000;

/** Steps in which the last use is written down: reading must not write each time. */
const touchEveryMs = 60_000;

/**
 * Who sends a request: a session's cookie together with its page token, or an API token as `Authorization: Bearer`. Cookies reach every
 * port of a host, so another program on the machine may hold one; the page token is in the storage of the studio's origin and opens
 * nothing without the cookie.
 *
 * @param secure whether the studio is reached over TLS
 * @returns null where either factor is missing, wrong or expired
 */
export function identify(store: Pick<Store, "sessions" | "apiTokens">, headers: Headers, secure: boolean, now = new Date()): Caller | null {
  const at = now.toISOString();
  const bearer = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) {
    const token = store.apiTokens.find(hashSecret(bearer), at);
    if (token !== null && isStale(token.lastUsedAt, now)) store.apiTokens.touch(token.caller.id, at);
    // A token outlives a change of its maker's role and never exceeds it.
    return token === null ? null : { ...token.caller, role: lesserRole(token.caller.role, token.makerRole) };
  }
  const secret = sessionSecret(headers.get("cookie"), secure);
  const pageToken = headers.get(pageTokenHeader);
  if (secret === null || pageToken === null) return null;
  const session = store.sessions.find(hashSecret(secret), at, new Date(now.getTime() - idleLimitMs).toISOString());
  if (session === null || !sameHash(hashSecret(pageToken), session.pageTokenHash)) return null;
  if (isStale(session.lastUsedAt, now)) store.sessions.touch(session.caller.id, at);
  return session.caller;
}

const isStale = (lastUsedAt: string | null, now: Date): boolean =>
  lastUsedAt === null || now.getTime() - Date.parse(lastUsedAt) > touchEveryMs;
