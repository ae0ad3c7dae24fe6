import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "@/server/store/store";
import { identify, pageTokenHeader } from "./identify";
import { isSameOrigin } from "./sameOrigin";
import { ownCookies, sessionCookie, sessionSecret } from "./sessionCookie";
import { localUserName, mintSignInLink, type NewSession, signIn } from "./signIn";

const start = new Date("2026-01-01T00:00:00Z");
const minutesOn = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";

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

  const link = () => mintSignInLink(store, "http://127.0.0.1:4600", { now: start });
  const signedIn = (now = start): NewSession => signIn(store, tokenOf(link()), now) ?? { cookieSecret: "", pageToken: "" };
  const headersOf = ({ cookieSecret, pageToken }: NewSession) =>
    new Headers({ cookie: `weir_session=${cookieSecret}`, [pageTokenHeader]: pageToken });

  it("trades a link for a session once, and leaves an audit line", () => {
    const token = tokenOf(link());
    const session = signIn(store, token, minutesOn(1));
    expect(session).not.toBeNull();
    if (session !== null)
      expect(identify(store, headersOf(session), false, minutesOn(2))).toMatchObject({ name: localUserName, role: "admin" });
    expect(signIn(store, token, minutesOn(3))).toBeNull();
    expect(store.audit.list(10).map((line) => line.action)).toEqual(["sign-in"]);
  });

  it("knows nobody by the cookie alone, by the page token alone, or by factors of two sessions", () => {
    const [own, other] = [signedIn(), signedIn()];
    const { cookieSecret, pageToken } = own;
    expect(identify(store, headersOf(own), false, start)?.kind).toBe("session");
    expect(identify(store, new Headers({ cookie: `weir_session=${cookieSecret}` }), false, start)).toBeNull();
    expect(identify(store, new Headers({ [pageTokenHeader]: pageToken }), false, start)).toBeNull();
    expect(identify(store, headersOf({ cookieSecret, pageToken: other.pageToken }), false, start)).toBeNull();
    expect(identify(store, new Headers({ authorization: `Bearer ${cookieSecret}` }), false, start)).toBeNull();
  });

  it("refuses a link after an hour and a token nobody made", () => {
    expect(signIn(store, tokenOf(link()), minutesOn(61))).toBeNull();
    expect(signIn(store, "made-up", start)).toBeNull();
  });

  it("ends a session after thirty days, after a week without use, and when it is removed", () => {
    const days = (count: number) => minutesOn(count * 24 * 60);
    const session = signedIn();
    for (let day = 6; day < 30; day += 6) expect(identify(store, headersOf(session), false, days(day))).not.toBeNull();
    expect(identify(store, headersOf(session), false, days(29.9))).not.toBeNull();
    expect(identify(store, headersOf(session), false, days(30.1))).toBeNull();
    const idle = signedIn();
    expect(identify(store, headersOf(idle), false, days(7.1))).toBeNull();
    const removed = signedIn();
    store.sessions.remove(identify(store, headersOf(removed), false, start)?.id ?? "");
    expect(identify(store, headersOf(removed), false, start)).toBeNull();
  });

  it("ends the session of a person of a provider after a day, since the provider is asked at sign-in alone", () => {
    const person = { id: "ada", name: "Ada", issuer: "https://login.example.com", subject: "1", role: "viewer" } as const;
    store.users.insert({ ...person, createdAt: start.toISOString() });
    const own = tokenOf(mintSignInLink(store, "http://127.0.0.1:4600", { userId: "ada", now: start }));
    const headers = headersOf(signIn(store, own, start) ?? { cookieSecret: "", pageToken: "" });
    expect(identify(store, headers, false, minutesOn(24 * 60 - 1))).toMatchObject({ name: "Ada", role: "viewer" });
    expect(identify(store, headers, false, minutesOn(24 * 60 + 1))).toBeNull();
  });

  it("signs in nobody who was disabled, and ends what was open", () => {
    const id = "0b7c8f0e-0000-4000-8000-000000000000";
    store.users.insert({
      id,
      name: "ann",
      issuer: "https://login.example",
      subject: "ann",
      role: "operator",
      createdAt: start.toISOString(),
    });
    const linkOfAnn = () => tokenOf(mintSignInLink(store, "http://127.0.0.1:4600", { userId: id, now: start }));
    const session = signIn(store, linkOfAnn(), start) ?? { cookieSecret: "", pageToken: "" };
    expect(identify(store, headersOf(session), false, start)?.name).toBe("ann");
    store.users.update(id, { disabledAt: start.toISOString() });
    expect(identify(store, headersOf(session), false, start)).toBeNull();
    expect(signIn(store, linkOfAnn(), start)).toBeNull();
  });

  it("lets the person at the terminal in as an admin whatever was set in the studio, with an audit line", () => {
    signedIn();
    store.users.update(store.users.local()?.id ?? "", { disabledAt: start.toISOString(), role: "viewer" });
    expect(identify(store, headersOf(signedIn()), false, start)).toMatchObject({ name: localUserName, role: "admin" });
    expect(store.audit.list(10).map(({ action }) => action)).toContain("set role");
  });

  it("stores neither the token nor the secrets of the session", () => {
    const token = tokenOf(link());
    const { cookieSecret, pageToken } = signIn(store, token, minutesOn(1)) ?? { cookieSecret: "x", pageToken: "x" };
    store.close();
    const bytes = readFileSync(join(folder, "weir.db")).toString("latin1");
    for (const secret of [token, cookieSecret, pageToken]) expect(bytes).not.toContain(secret);
    store = openStore(folder);
  });
});

describe("session cookie", () => {
  it("is found among others and is no longer there once ended", () => {
    const pair = sessionCookie("abc-_1", false).split(";")[0] ?? "";
    expect(sessionSecret(`theme=dark; ${pair}; x=1`, false)).toBe("abc-_1");
    expect(sessionSecret(sessionCookie("", false).split(";")[0] ?? "", false)).toBeNull();
    expect(sessionSecret(null, false)).toBeNull();
  });

  it("is out of reach for scripts and other sites, and over TLS for sub-domains and plain connections", () => {
    expect(sessionCookie("s", false)).toMatch(/HttpOnly; SameSite=Strict/);
    expect(sessionCookie("s", true)).toMatch(/^__Host-weir_session=s; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/);
    expect(sessionSecret("weir_session=s", true)).toBeNull();
  });

  it("is the only one that a request keeps of the two kinds of connection", () => {
    const both = "theme=dark; weir_session=planted; __Host-weir_session=own";
    expect(ownCookies(both, true)).toBe("theme=dark; __Host-weir_session=own");
    expect(ownCookies(both, false)).toBe("theme=dark; weir_session=planted");
    expect(ownCookies("weir_session=planted", true)).toBeUndefined();
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
