import { describe, expect, it } from "vitest";
import type { ApiTokenSummary, GatewayKeySummary, PersonSummary, SessionSummary } from "@/server/contracts/studio";
import { prepareFourEyes } from "./prepareFourEyes";
import { prepareKeys, revokeKeyText } from "./prepareKeys";
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

  const key = (name: string, more: Partial<GatewayKeySummary> = {}): GatewayKeySummary => ({
    ...{ name, objective: null, requestsPerMinute: null, expiresAt: null, revokedAt: null, lastUsedAt: null, state: "valid", ...more },
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
