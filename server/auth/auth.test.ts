import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "@/server/store/store";
import { isSameOrigin } from "./sameOrigin";
import { ownCookies, sessionCookie, sessionSecret } from "./sessionCookie";
import { findSession, mintSignInLink, signIn } from "./signIn";

const start = new Date("2026-01-01T00:00:00Z");
const minutesOn = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
const tokenOf = (link: string) => new URL(link).searchParams.get("token") ?? "";

describe("signing in", () => {
  let folder: string;
  let store: Store;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-auth-"));
    store = openStore(folder);
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  it("trades a link for a session once, and leaves an audit line", () => {
    const link = mintSignInLink(store, "http://127.0.0.1:4600", start);
    const secret = signIn(store, tokenOf(link), minutesOn(1));
    expect(findSession(store, secret, minutesOn(2))?.name).toBe("operator");
    expect(signIn(store, tokenOf(link), minutesOn(3))).toBeNull();
    expect(store.audit.list(10).map((line) => line.action)).toEqual(["sign-in"]);
  });

  it("refuses a link after an hour and a token nobody made", () => {
    const link = mintSignInLink(store, "http://127.0.0.1:4600", start);
    expect(signIn(store, tokenOf(link), minutesOn(61))).toBeNull();
    expect(signIn(store, "made-up", start)).toBeNull();
  });

  it("ends a session after thirty days and when it is removed", () => {
    const secret = signIn(store, tokenOf(mintSignInLink(store, "http://127.0.0.1:4600", start)), start);
    expect(findSession(store, secret, minutesOn(30 * 24 * 60 - 1))).not.toBeNull();
    expect(findSession(store, secret, minutesOn(30 * 24 * 60 + 1))).toBeNull();
    const session = findSession(store, secret, start);
    store.sessions.remove(session?.hash ?? "");
    expect(findSession(store, secret, start)).toBeNull();
  });

  it("stores neither the token nor the session secret", () => {
    const link = mintSignInLink(store, "http://127.0.0.1:4600", start);
    const secret = signIn(store, tokenOf(link), start) ?? "";
    expect(store.sessions.find(secret, start.toISOString())).toBeNull();
    expect(store.sessions.consumeLink(tokenOf(link), start.toISOString())).toBe(false);
  });
});

describe("session cookie", () => {
  it("is found among others and is no longer there once ended", () => {
    const pair = sessionCookie("abc-_1", false).split(";")[0] ?? "";
    expect(sessionSecret(`theme=dark; ${pair}; x=1`)).toBe("abc-_1");
    expect(sessionSecret(sessionCookie("", false).split(";")[0] ?? "")).toBeNull();
    expect(sessionSecret(null)).toBeNull();
  });

  it("is out of reach for scripts and other sites", () => {
    expect(sessionCookie("s", false)).toMatch(/HttpOnly; SameSite=Strict/);
  });

  it("is bound to the host over TLS, where a cookie that another host or plain text may have set does not count", () => {
    expect(sessionCookie("s", true)).toBe("__Host-weir_session=s; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure");
    const both = "theme=dark; weir_session=planted; __Host-weir_session=own";
    expect(sessionSecret(ownCookies(both, true) ?? null)).toBe("own");
    expect(sessionSecret(ownCookies(both, false) ?? null)).toBe("planted");
    expect(ownCookies("weir_session=planted", true)).toBeUndefined();
    expect(ownCookies("theme=dark; weir_session=planted", true)).toBe("theme=dark");
  });
});

describe("same origin", () => {
  const headers = (entries: Record<string, string>) => new Headers({ host: "127.0.0.1:4600", ...entries });
  it("holds for the studio's own pages and for the command line", () => {
    expect(isSameOrigin(headers({ origin: "http://127.0.0.1:4600" }))).toBe(true);
    expect(isSameOrigin(headers({}))).toBe(true);
  });
  it("fails for another site, another port and an opaque origin", () => {
    expect(isSameOrigin(headers({ origin: "https://evil.example" }))).toBe(false);
    expect(isSameOrigin(headers({ origin: "http://127.0.0.1:4611" }))).toBe(false);
    expect(isSameOrigin(headers({ origin: "null" }))).toBe(false);
    expect(isSameOrigin(headers({ "sec-fetch-site": "cross-site" }))).toBe(false);
  });
});
