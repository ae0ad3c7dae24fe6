import { describe, expect, it } from "vitest";
import type { ApiTokenSummary, GatewayKeySummary, KeyUse, PersonSummary, SessionSummary } from "@/server/contracts/studio";
import { draftOf, termsOf } from "./keyDraft";
import { prepareFourEyes } from "./prepareFourEyes";
import { prepareKeys, revokeKeyText } from "./prepareKeys";
import { prepareKeyUsage } from "./prepareKeyUsage";
import { preparePeople, roleChangeText } from "./preparePeople";
import { prepareSessions } from "./prepareSessions";
import { curlText, prepareTokens } from "./prepareTokens";
import { validity } from "./validity";

const nowMs = Date.parse("2026-03-01T12:00:00.000Z");
const inDays = (days: number) => new Date(nowMs + days * 86_400_000).toISOString();

const person = (name: string, more: Partial<PersonSummary> = {}): PersonSummary => ({
  ...{ id: name, name, role: "viewer", issuer: "https://login.example/realm", createdAt: inDays(-9) },
  ...{ lastSignInAt: null, disabledAt: null, ...more },
});

const key = (name: string, more: Partial<GatewayKeySummary> = {}): GatewayKeySummary => ({
  ...{ name, objective: null, requestsPerMinute: null, expiresAt: null, revokedAt: null, lastUsedAt: null, state: "valid" },
  ...{ limits: null, models: null, labels: null, use: [], ...more },
});

describe("people", () => {
  it("are listed by name after the one who looks, with where they come from", () => {
    const rows = preparePeople([person("bob"), person("ann"), person("me", { issuer: null, role: "admin" })], { userId: "me" });
    expect(rows.map(({ name, from }) => [name, from])).toEqual([
      ["me", "terminal of the studio's machine"],
      ["ann", "login.example"],
      ["bob", "login.example"],
    ]);
    expect(rows[1]).toMatchObject({ lastSignIn: "never", state: { word: "may sign in" }, disableHindrance: null, roleHindrance: null });
  });

  it("keep their last admin, whom nothing can lower or disable, and nobody disables themselves", () => {
    const admin = person("ann", { role: "admin" });
    const gone = person("old", { role: "admin", disabledAt: inDays(-1) });
    const [ann, old] = preparePeople([admin, gone], { userId: "else" });
    expect(ann).toMatchObject({
      roleHindrance: expect.stringContaining("last admin"),
      disableHindrance: expect.stringContaining("last admin"),
    });
    expect(old).toMatchObject({ disabled: true, state: { tone: "neutral", word: "disabled" }, roleHindrance: null });
    const two = preparePeople([admin, person("bob", { role: "admin" })], { userId: "ann" });
    expect(two.map(({ disableHindrance }) => disableHindrance)).toEqual(["You cannot disable yourself.", null]);
  });

  it("are told what another role means before they get it", () => {
    expect(roleChangeText({ name: "ann", role: "viewer", own: false, byProvider: true }, "approver")).toMatch(
      /^ann is viewer now\. The role approver .*approves plans.*At the next sign-in the groups at the provider decide again\.$/,
    );
    expect(roleChangeText({ name: "ann", role: "admin", own: true, byProvider: false }, "viewer")).toMatch(
      /You lose access to this page\.$/,
    );
    expect(roleChangeText({ name: "ann", role: "viewer", own: true, byProvider: false }, "admin")).not.toMatch(/lose/);
  });
});

it("lists sessions that are open, the own one first, and counts the others", () => {
  const session = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
    ...{ id, userId: "u", userName: id, own: false },
    ...{ createdAt: inDays(-3), lastUsedAt: inDays(-1), expiresAt: inDays(20), ...more },
  });
  const { rows, others } = prepareSessions(
    [session("a"), session("b", { lastUsedAt: inDays(0) }), session("over", { expiresAt: inDays(-1) }), session("c", { own: true })],
    nowMs,
  );
  expect(rows.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  expect(others).toBe(2);
});

describe("tokens and keys", () => {
  it("are valid, near their end, expired or revoked, each in words", () => {
    const word = (expiresAt: string | null, revokedAt: string | null = null) => validity({ expiresAt, revokedAt }, nowMs).word;
    expect(word(null)).toBe("valid");
    expect(word(inDays(8))).toBe("valid");
    expect(word(inDays(6.5))).toBe("expires in 7 days");
    expect(word(inDays(0.5))).toBe("expires within a day");
    expect(word(inDays(0))).toBe("expired");
    expect(word(inDays(8), inDays(-1))).toBe("revoked");
  });

  it("list tokens that work first, and revoke only those", () => {
    const token = (label: string, more: Partial<ApiTokenSummary> = {}): ApiTokenSummary => ({
      ...{ id: label, label, role: "viewer", createdBy: "ann", createdAt: inDays(-5) },
      ...{ expiresAt: inDays(30), lastUsedAt: null, revokedAt: null, ...more },
    });
    const rows = prepareTokens(
      [
        token("gone", { revokedAt: inDays(-1), createdAt: inDays(-1) }),
        token("late", { expiresAt: inDays(-1) }),
        token("ci"),
        token("new", { createdAt: inDays(-2) }),
      ],
      nowMs,
    );
    expect(rows.map(({ label, canRevoke }) => [label, canRevoke])).toEqual([
      ["new", true],
      ["ci", true],
      ["gone", false],
      ["late", false],
    ]);
    expect(rows[0]?.lastUsed).toBe("never");
    expect(curlText("http://127.0.0.1:4600", "weir_x")).toBe(
      'curl -H "Authorization: Bearer weir_x" http://127.0.0.1:4600/api/trpc/session.me',
    );
  });

  it("say that a gateway without keys is open, and what the first one changes", () => {
    expect(prepareKeys(null, nowMs)).toMatchObject({
      rows: [],
      access: expect.stringContaining("every client"),
      createText: expect.stringMatching(/refuses every request without one.*demo load/),
    });
  });

  it("list keys that are accepted first, with rates, and say when none is left", () => {
    const revoked = key("a", { state: "revoked", revokedAt: inDays(-1) });
    const list = prepareKeys([revoked, key("b", { requestsPerMinute: 1200, objective: "batch" })], nowMs);
    expect(list.rows.map(({ name, rate, objective, isRevoked }) => [name, rate, objective, isRevoked])).toEqual([
      ["b", "1,200/min", "batch", false],
      ["a", "no limit", "as the request says", true],
    ]);
    expect(list.access).toBe("Every request needs one of 1 accepted key.");
    expect(prepareKeys([revoked], nowMs).access).toMatch(/^No key is accepted/);
    expect(revokeKeyText({ name: "b" }, list.rows)).toMatch(/last accepted key/);
    expect(revokeKeyText({ name: "b" }, [...list.rows, ...prepareKeys([key("c")], nowMs).rows])).not.toMatch(/last accepted/);
  });
});

describe("limits of a key", () => {
  const terms = {
    ...{ requestsPerMinute: 60, objective: "batch", models: ["cascade/default", "large"], labels: { team: "search" } },
    limits: { tokensPerDay: 1000, usdPerMonth: 12.5, warnAt: 0.8 },
  };

  it("come back from the form as they went in, and none as none", () => {
    expect(termsOf(draftOf(terms))).toEqual(terms);
    const none = { requestsPerMinute: null, limits: null, models: null, labels: null, objective: null };
    expect(termsOf(draftOf(none))).toEqual(none);
    expect(termsOf({ ...draftOf(none), warnPercent: 80, models: " , " })).toEqual(none);
  });

  it("are listed with the share that is used, the fullest one marked", () => {
    const resetsAt = inDays(1);
    const use = [
      { limit: "tokensPerDay" as const, most: 1000, used: 900, reserved: 50, resetsAt },
      { limit: "usdPerMonth" as const, most: 10, used: 10.5, reserved: 0, resetsAt },
    ];
    const { rows } = prepareKeys([key("app", { limits: terms.limits, use, labels: { team: "search", project: "web" } })], nowMs);
    expect(rows[0]?.owner).toBe("search / web");
    expect(rows[0]?.limits.map(({ text, tone }) => [text, tone])).toEqual([
      ["900 of 1,000 tokens a day", "warn"],
      ["$10.50 of $10.00 a month", "bad"],
    ]);
  });
});

describe("use of keys", () => {
  const row = (of: Pick<KeyUse, "day" | "key" | "model" | "usd">, unpriced = 0): KeyUse => ({
    ...{ ...of, requests: 1, inputTokens: 7, outputTokens: 3, unpriced },
  });
  const rows = [
    row({ day: "2026-01-01", key: "a", model: "small", usd: 0.1 }),
    row({ day: "2026-01-01", key: "b", model: "large", usd: 0.2 }),
    row({ day: "2026-01-02", key: "a", model: "large", usd: 0.3 }, 1),
  ];

  it("is summed by key, model or day, the dearest first and days from the newest, to the same total", () => {
    const by = (what: "key" | "model" | "day" | "all") => {
      const { rows: shown, total } = prepareKeyUsage(rows, what);
      expect([total.requests, total.tokens, total.usd]).toEqual(["3", "30", "$0.600 + 1 without a price"]);
      return shown.map(({ name, usd }) => [name, usd]);
    };
    expect(by("key")).toEqual([
      ["a", "$0.400 + 1 without a price"],
      ["b", "$0.200"],
    ]);
    expect(by("model").map(([name]) => name)).toEqual(["large", "small"]);
    expect(by("day").map(([name]) => name)).toEqual(["2026-01-02", "2026-01-01"]);
    expect(by("all").map(([name]) => name)).toEqual(["2026-01-02 · a · large", "2026-01-01 · a · small", "2026-01-01 · b · large"]);
  });
});

describe("four eyes", () => {
  it("warns where one person alone may approve, as nobody could approve that person's plans", () => {
    expect(prepareFourEyes(true, ["ann"])).toMatchObject({
      says: expect.stringMatching(/^On/),
      warning: expect.stringMatching(/^Only ann/),
    });
    expect(prepareFourEyes(true, ["ann", "bob"]).warning).toBeNull();
    expect(prepareFourEyes(true, null).warning).toBeNull();
    expect(prepareFourEyes(false, ["ann"])).toMatchObject({ warning: null, change: expect.stringContaining("Only ann may approve") });
  });
});
