import { createPublicKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createGatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { partsOf } from "@/server/contracts/gateway/signedOrder";
import { sayCompletion, startTestEngine } from "@/server/gateway/testing/testEngine";
import { oneModel, startTestGateway } from "@/server/gateway/testing/testGateway";
import { orderSigner, studioKey } from "@/server/lib/studioKey";
import { openStore } from "@/server/store/store";
import { createGatewayKeyService } from "./gatewayKeyService";

const clusterId = "embedded";
const messages = [{ role: "user", content: "?" }];

/** The service beside a real gateway that follows its studio and serves one model to every client. */
async function studio() {
  const folder = mkdtempSync(join(tmpdir(), "weir-keys-"));
  const store = openStore(folder);
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const key = studioKey(folder);
  const gateway = await startTestGateway({}, { adminToken: "admin", studio: { keys: [createPublicKey(key)], clusterId } });
  const admin = createAdminClient("gateway", gateway.adminUrl, "admin", { clusterId, sign: orderSigner(key) });
  const body = gatewayConfigSchema.parse(oneModel([engine.url]));
  await admin("/config", { method: "PUT", body, parts: partsOf(body), headers: { "if-match": "none" }, schema: z.unknown() });
  const audit = createGatewayAudit({ store, clusterId, gateway: admin });
  onTestFinished(() => {
    audit.close();
    store.close();
    rmSync(folder, { recursive: true });
  });
  const controlled = { admin, audit, look: async () => undefined, models: () => null };
  const keys = createGatewayKeyService({ store, gatewayOf: (id) => (id === clusterId ? controlled : null) });
  const ask = async (key: string) =>
    (await gateway.post("/v1/chat/completions", { model: "large", messages }, { authorization: `Bearer ${key}` })).status;
  return { keys, store, ask, stateDirectory: gateway.stateDirectory };
}
const madeKey = async (making: ReturnType<Awaited<ReturnType<typeof studio>>["keys"]["create"]>): Promise<string> => {
  const made = await making;
  if (!made.ok) throw new Error(made.message);
  return made.key;
};
const terms = { requestsPerMinute: null, limits: null, models: null, labels: null, objective: null };
const once = { clusterId, days: 30, ...terms };

it("makes a key that the gateway takes and keeps as its hash, sets its expiry, revokes it, and notes each in the person's name", async () => {
  const { keys, store, ask, stateDirectory } = await studio();
  expect(await keys.list(clusterId)).toEqual({ ok: true, keys: null, classes: [] });
  expect(await ask("anything")).toBe(200);
  const key = await madeKey(keys.create({ ...once, label: "team a", requestsPerMinute: 100 }, "ada"));
  expect(key).toMatch(/^wgk_[\w-]{43}$/);
  expect([await ask(key), await ask("anything")]).toEqual([200, 401]);
  const listed = async () => {
    const answer = await keys.list(clusterId);
    return answer.ok ? answer.keys : null;
  };
  expect(await listed()).toEqual([
    {
      ...{ name: "team a", ...terms, requestsPerMinute: 100, use: [], revokedAt: null, state: "valid" },
      ...{ expiresAt: expect.any(String), lastUsedAt: expect.any(String) },
    },
  ]);
  expect(await keys.create({ ...once, label: "team a" }, "ada")).toMatchObject({ ok: false, message: expect.stringContaining("already") });
  expect(await keys.setExpiry({ clusterId, name: "team a", days: null }, "ada")).toEqual({ ok: true });
  expect((await listed())?.[0]?.expiresAt).toBeNull();
  expect(await keys.revoke({ clusterId, name: "team a" }, "ada")).toEqual({ ok: true });
  expect((await listed())?.[0]).toMatchObject({ state: "revoked", requestsPerMinute: 100 });
  expect([await ask(key), await ask("anything")]).toEqual([401, 401]);
  expect(await keys.setExpiry({ clusterId, name: "team a", days: 3 }, "ada")).toMatchObject({ ok: false });
  expect(await keys.revoke({ clusterId, name: "team b" }, "ada")).toEqual({ ok: false, message: "The gateway has no key team b." });
  const lines = store.audit.list(20).filter(({ subject }) => subject === "team a");
  expect(lines.map(({ actor, action, detail }) => [actor, action, detail]).reverse()).toEqual([
    ["ada", "create gateway key", "30 days; 100 requests a minute"],
    ["ada", "set expiry of gateway key", "none"],
    ["ada", "revoke gateway key", ""],
  ]);
  expect(readFileSync(join(stateDirectory, "gateway.json"), "utf8")).not.toContain(key);
  expect(JSON.stringify(store.audit.list(100))).not.toContain(key);
});

it("says why for a cluster without a gateway", async () => {
  const { keys } = await studio();
  expect(await keys.list("nowhere")).toMatchObject({ ok: false, message: expect.stringContaining("no gateway") });
  expect(await keys.create({ ...once, clusterId: "nowhere", label: "x" }, "ada")).toMatchObject({ ok: false });
});

it("gives a key limits, models and labels, replaces them, notes each, and reports the use by day", async () => {
  const { keys, store, ask } = await studio();
  const limits = { tokensPerDay: 1000, warnAt: 0.8 };
  const key = await madeKey(keys.create({ ...once, label: "app", limits, labels: { team: "search" }, models: ["large"] }, "ada"));
  expect(await ask(key)).toBe(200);
  expect(await keys.list(clusterId)).toMatchObject({
    keys: [{ name: "app", limits, labels: { team: "search" }, models: ["large"], use: [{ limit: "tokensPerDay", most: 1000, used: 10 }] }],
  });
  const other = { ...terms, limits: { tokensPerDay: 10 } };
  expect(await keys.setTerms({ clusterId, name: "app", ...other }, "ada")).toEqual({ ok: true });
  expect(await keys.list(clusterId)).toMatchObject({ keys: [{ ...other, use: [{ most: 10, used: 10 }] }] });
  expect(await ask(key)).toBe(429);
  expect(await keys.setTerms({ clusterId, name: "app", ...terms, limits: { usdPerDay: 1 } }, "ada")).toMatchObject({
    ok: false,
    message: expect.stringContaining("has a budget in USD, but the model large has no price"),
  });
  const today = new Date().toISOString().slice(0, 10);
  expect(await keys.usage(clusterId, { from: today, to: today })).toMatchObject({
    ok: true,
    rows: [{ day: today, key: "app", model: "large", team: "search", requests: 1, inputTokens: 7, outputTokens: 3 }],
  });
  expect(await keys.usage(clusterId, { from: "2026-02-01", to: "2026-01-01" })).toMatchObject({ ok: false });
  const lines = store.audit.list(20).filter(({ subject, outcome }) => subject === "app" && outcome === "done");
  expect(lines.map(({ action, detail }) => [action, detail]).reverse()).toEqual([
    ["create gateway key", "30 days; 1000 tokens a day; warns at 80 %; only large; team search"],
    ["set limits of gateway key", "10 tokens a day"],
  ]);
});
