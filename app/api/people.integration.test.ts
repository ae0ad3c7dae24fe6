import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signedInHeaders, tokenOf } from "@/server/api/testing/signedInHeaders";
import { hashSecret, newSecret } from "@/server/auth/secret";
import { mintSignInLink } from "@/server/auth/signIn";
import type { ApiTokenSummary, KeptPlan, PersonSummary, Role, SessionSummary } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore, type Store } from "@/server/store/store";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { POST as mutate, GET as query } from "./trpc/[trpc]/route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";
type Sender = Readonly<Record<string, string>>;

describe("people, tokens and four eyes over HTTP", () => {
  let folder: string;
  let runtime: Runtime;
  /** A second connection to the store of the running studio. */
  let store: Store;
  let admin: Sender;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-people-"));
    runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
    Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
    store = openStore(folder);
    admin = { ...signedInHeaders(runtime) };
  });
  afterAll(async () => {
    store.close();
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => store.users.setFourEyes(false));

  const result = async (response: Response) => {
    const body = (await response.json()) as { result?: { data: unknown }; error?: { message: string; data: { code: string } } };
    return (body.result?.data ?? body.error) as Record<string, unknown>;
  };
  const request = (path: string, headers: Sender, init: RequestInit = {}) =>
    new Request(`${origin}/api/trpc/${path}`, { ...init, headers: { host: "127.0.0.1:4600", ...headers } });
  const ask = async (sender: Sender, path: string, input?: unknown) =>
    result(await query(request(`${path}${input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify(input))}`}`, sender)));
  const change = async (sender: Sender, path: string, input?: unknown) =>
    result(
      await mutate(
        request(path, { ...sender, origin, "content-type": "application/json" }, { method: "POST", body: JSON.stringify(input ?? {}) }),
      ),
    );
  const bearer = (token: unknown): Sender => ({ authorization: `Bearer ${token}` });

  /** A person with a role, and the headers of a browser that signed in. */
  function person(name: string, role: Role): Sender & { readonly id: string } {
    const id = randomUUID();
    store.users.insert({ id, name, role, issuer: "https://issuer.example", subject: id, createdAt: new Date().toISOString() });
    const session = runtime.signIn(tokenOf(mintSignInLink(store, origin, { userId: id })));
    if (session === null) throw new Error("The link was refused.");
    return { id, cookie: `weir_session=${session.cookieSecret}`, "x-weir-page-token": session.pageToken };
  }
  const tokenOfPerson = (createdBy: string, role: Role, { days = 1, revoked = false } = {}): Sender => {
    const secret = newSecret();
    const at = (offset: number) => new Date(Date.now() + offset * 24 * 3_600_000).toISOString();
    store.apiTokens.insert({
      ...{ id: randomUUID(), hash: hashSecret(secret), label: "ci", role, createdBy },
      ...{ createdAt: at(-2), expiresAt: at(days), revokedAt: revoked ? at(-1) : null },
    });
    return bearer(secret);
  };

  it("lets a program with a token of the role viewer read, not approve, and writes down when it was used", async () => {
    const made = await change(admin, "people.createToken", { label: "nightly", role: "viewer", days: 7 });
    expect(made).toMatchObject({ ok: true, token: expect.stringMatching(/^weir_/) });
    const sender = bearer(made.token);
    const listed = async () => (await ask(admin, "people.tokens")) as unknown as readonly ApiTokenSummary[];
    expect((await listed())[0]).toMatchObject({ label: "nightly", role: "viewer", lastUsedAt: null });
    // curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4600/api/trpc/session.me
    expect(await ask(sender, "session.me")).toMatchObject({ kind: "token", name: "token nightly of local admin", role: "viewer" });
    expect((await listed())[0]?.lastUsedAt).toEqual(expect.any(String));
    const approval = { planId: "p", clusterId: "c", hash: "p", reason: "" };
    expect(await change(sender, "plans.approve", approval)).toMatchObject({
      message: "The role viewer may not approve plans; the role approver or admin may.",
      data: { code: "FORBIDDEN" },
    });
    expect(JSON.stringify(await listed())).not.toContain(String(made.token));
    const [{ id } = { id: "" }] = await listed();
    expect(await change(admin, "people.revokeToken", { id })).toEqual({ ok: true });
    expect(await ask(sender, "session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
    expect(await change(admin, "people.revokeToken", { id })).toMatchObject({ ok: false });
  });

  it("refuses expired and revoked tokens, and those of a disabled person", async () => {
    const mia = person("mia", "operator");
    expect(await ask(tokenOfPerson(mia.id, "viewer", { days: -1 }), "session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
    expect(await ask(tokenOfPerson(mia.id, "viewer", { revoked: true }), "session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
    const valid = tokenOfPerson(mia.id, "viewer");
    expect(await ask(valid, "session.me")).toMatchObject({ userId: mia.id });
    expect(await change(admin, "people.setDisabled", { id: mia.id, disabled: true })).toEqual({ ok: true });
    expect(await ask(valid, "session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
  });

  it("gives a token no more than the present role of the person who made it", async () => {
    const max = person("max", "admin");
    const sender = tokenOfPerson(max.id, "admin");
    expect(await ask(sender, "session.me")).toMatchObject({ role: "admin" });
    await change(admin, "people.setRole", { id: max.id, role: "viewer" });
    expect(await ask(sender, "session.me")).toMatchObject({ role: "viewer" });
    expect(await change(sender, "people.createToken", { label: "back", role: "admin", days: 1 })).toMatchObject({
      data: { code: "FORBIDDEN" },
    });
  });

  it("keeps an admin, ends sessions of others, and shows neither secret of a session", async () => {
    const people = (await ask(admin, "people.list")) as unknown as readonly PersonSummary[];
    const local = people.find(({ issuer }) => issuer === null);
    expect(await change(admin, "people.setRole", { id: local?.id, role: "viewer" })).toMatchObject({ ok: false });
    const eve = person("eve", "viewer");
    const sessions = (await ask(admin, "people.sessions")) as unknown as readonly SessionSummary[];
    expect(sessions.filter(({ own }) => own)).toHaveLength(1);
    expect(JSON.stringify(sessions)).not.toMatch(/hash|secret/i);
    const hers = sessions.find(({ userId }) => userId === eve.id);
    expect(await change(admin, "people.endSession", { id: hers?.id })).toEqual({ ok: true });
    expect(await ask(eve, "session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
    expect(await change(admin, "people.endOtherSessions")).toMatchObject({ ok: true });
    expect(await ask(admin, "session.me")).toMatchObject({ role: "admin" });
  });

  it("under four eyes refuses the approval of a plan by its maker, by session and by token, and lets another approve it", async () => {
    const [ann, bob] = [person("ann", "approver"), person("bob", "approver")];
    const draft = examplePlanDraft();
    const rows = [{ gpu: "l40s", nodes: 1, gpusPerNode: 2, usdPerGpuHour: 1.5 }];
    const { id: clusterId } = await change(admin, "clusters.describe", { name: "described", rows });
    const cluster = { ...draft.inputs.cluster, id: String(clusterId) };
    const plan = sealPlan({ ...draft, inputs: { ...draft.inputs, cluster } }, new Date("2026-01-01T00:00:00Z"));
    const approve = async (sender: Sender) => {
      const { approvalHashes } = (await ask(ann, "plans.get", { planId: plan.id })) as unknown as KeptPlan;
      return change(sender, "plans.approve", { planId: plan.id, clusterId, hash: approvalHashes[String(clusterId)], reason: "" });
    };
    expect(await change(admin, "people.setFourEyes", { on: true })).toEqual({ ok: true });

    expect(await change(tokenOfPerson(ann.id, "operator"), "plans.import", { document: plan })).toEqual({ ok: true, id: plan.id });
    const own = { ok: false, message: "Four eyes is on: you made this plan, so another person approves it." };
    expect(await approve(ann)).toEqual(own);
    expect(await approve(tokenOfPerson(ann.id, "approver"))).toEqual(own);
    // Another who saves it again does not become its maker, and frees it for nobody.
    expect(await change(bob, "plans.import", { document: plan })).toEqual({ ok: true, id: plan.id });
    expect(await approve(ann)).toEqual(own);
    expect(await ask(ann, "plans.get", { planId: plan.id })).toMatchObject({ maker: { id: ann.id, name: "ann" }, approvals: [] });
    // A new name is the same person.
    store.users.update(ann.id, { name: "ann of sales" });
    expect(await approve(ann)).toEqual(own);
    expect(await approve(bob)).toMatchObject({ ok: true, approval: { actor: "bob" } });

    await change(admin, "people.setFourEyes", { on: false });
    expect(await approve(ann)).toMatchObject({ ok: true });
    const lines = (await ask(admin, "audit.list", { limit: 100 })) as unknown as readonly { action: string; detail: string }[];
    expect(lines.filter(({ action }) => action === "set four eyes").map(({ detail }) => detail)).toEqual(["off", "on"]);
  });
});
