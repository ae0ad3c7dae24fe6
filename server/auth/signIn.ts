import { createHash, randomBytes } from "node:crypto";
import type { Store } from "@/server/store/store";
import { sessionSeconds } from "./sessionCookie";

/** 256 random bits, URL-safe: a sign-in token or a session cookie. */
const newSecret = (): string => randomBytes(32).toString("base64url");

/** What is stored of a secret: its SHA-256, enough to recognise it and not to make it. */
const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** A link left in a terminal's scrollback must not work for long. */
const linkLifeMs = 3_600_000;

/** The one person who holds the terminal: there are no accounts. */
const operatorName = "operator";

const after = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

/**
 * Makes a sign-in link that works once within an hour. Only the hash of its token is stored.
 *
 * @param studioUrl origin of the studio, such as `http://127.0.0.1:4600`
 */
export function mintSignInLink(store: Pick<Store, "sessions">, studioUrl: string, now = new Date()): string {
  const token = newSecret();
  store.sessions.insertLink({ hash: hashSecret(token), createdAt: now.toISOString(), expiresAt: after(now, linkLifeMs) });
  return new URL(`/api/sign-in?token=${token}`, studioUrl).href;
}

/** Trades a link's token for a session secret; null when the token is unknown, used or expired. */
export function signIn(store: Pick<Store, "sessions" | "audit" | "atomically">, token: string, now = new Date()): string | null {
  return store.atomically(() => {
    const at = now.toISOString();
    if (!store.sessions.consumeLink(hashSecret(token), at)) return null;
    const secret = newSecret();
    store.sessions.prune(at);
    store.sessions.insert({ hash: hashSecret(secret), name: operatorName, createdAt: at, expiresAt: after(now, sessionSeconds * 1000) });
    store.audit.add({
      at,
      actor: operatorName,
      action: "sign-in",
      subject: "session",
      detail: "by a one-time link",
      objectKind: "session",
    });
    return secret;
  });
}

/** The signed-in person behind a session secret. */
export function findSession(store: Pick<Store, "sessions">, secret: string | null, now = new Date()) {
  return secret === null ? null : store.sessions.find(hashSecret(secret), now.toISOString());
}
