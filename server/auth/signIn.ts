import { randomUUID } from "node:crypto";
import type { Store } from "@/server/store/store";
import type { StoredUser } from "@/server/store/userRepository";
import { hashSecret, newSecret } from "./secret";
import { sessionSeconds } from "./sessionCookie";

/** A link left in a terminal's scrollback must not work for long. */
const printedLinkMs = 3_600_000;

/** A link that the studio itself redirects to is used at once. */
export const redirectedLinkMs = 60_000;

/** People of a provider ask it again every day: who left there loses access here. */
const providerSessionMs = 24 * 3_600_000;

/** The person who holds the terminal of the studio's machine. */
export const localUserName = "local admin";

const after = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

/** What a browser holds of a session: the cookie's secret, and the page token, which never travels in a cookie or an address. */
export interface NewSession {
  readonly cookieSecret: string;
  readonly pageToken: string;
}

/**
 * Makes a sign-in link that works once. Only the hash of its token is stored. The token is in the fragment, which browsers send to no
 * server: the page reads it and posts it, so loading the link alone uses nothing up.
 *
 * @param studioUrl origin of the studio, such as `http://127.0.0.1:4600`; an empty one gives a path
 * @param userId whom it signs in; null: the person at the machine's terminal
 */
export function mintSignInLink(
  store: Pick<Store, "sessions">,
  studioUrl: string,
  {
    userId = null,
    lifeMs = printedLinkMs,
    now = new Date(),
  }: { readonly userId?: string | null; readonly lifeMs?: number; readonly now?: Date } = {},
): string {
  const token = newSecret();
  store.sessions.insertLink({ hash: hashSecret(token), userId, createdAt: now.toISOString(), expiresAt: after(now, lifeMs) });
  return `${studioUrl}/sign-in#token=${token}`;
}

/** Trades a link's token for a session; null when the token is unknown, used or expired, or its person may not sign in. */
export function signIn(store: Store, token: string, now = new Date()): NewSession | null {
  return store.atomically(() => {
    const at = now.toISOString();
    const link = store.sessions.consumeLink(hashSecret(token), at);
    if (link === null) return null;
    const user = link.userId === null ? restored(store, localPerson(store, at), at) : store.users.get(link.userId);
    if (user === null || user.disabledAt !== null) return null;
    const session = { cookieSecret: newSecret(), pageToken: newSecret() };
    store.sessions.prune(at);
    store.sessions.insert({
      id: randomUUID(),
      hash: hashSecret(session.cookieSecret),
      pageTokenHash: hashSecret(session.pageToken),
      userId: user.id,
      createdAt: at,
      lastUsedAt: at,
      expiresAt: after(now, user.issuer === null ? sessionSeconds * 1000 : providerSessionMs),
    });
    store.users.update(user.id, { lastSignInAt: at });
    const how = user.issuer === null ? "by a one-time link" : `by ${user.issuer}`;
    store.audit.add({ at, actor: user.name, action: "sign-in", subject: "session", detail: how, objectKind: "session", role: user.role });
    return session;
  });
}

/**
 * The person at the terminal as an admin who may sign in, whatever was set in the studio: the link is the way in when nobody else has one.
 * Whoever can print it can change the store as well.
 */
function restored(store: Store, user: StoredUser, at: string): StoredUser {
  if (user.disabledAt === null && user.role === "admin") return user;
  store.users.update(user.id, { disabledAt: null, role: "admin" });
  store.audit.add({
    at,
    actor: user.name,
    action: "set role",
    subject: user.name,
    objectKind: "person",
    detail: "admin, by a link of the terminal",
  });
  return { ...user, disabledAt: null, role: "admin" };
}

/** The person at the machine's terminal. Whoever can print a link can read the state folder: an admin. */
export function localPerson(store: Pick<Store, "users">, at = new Date().toISOString()): StoredUser {
  const known = store.users.local();
  if (known !== null) return known;
  const made = { id: randomUUID(), name: localUserName, role: "admin", createdAt: at } as const;
  store.users.insert(made);
  return { ...made, issuer: null, subject: null, lastSignInAt: null, disabledAt: null };
}
