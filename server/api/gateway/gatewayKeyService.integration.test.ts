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
const once = { clusterId, days: 30, requestsPerMinute: null };

it("makes a key that the gateway takes and keeps as its hash, sets its expiry, revokes it, and notes each in the person's name", async () => {
  const { keys, store, ask, stateDirectory } = await studio();
  expect(await keys.list(clusterId)).toEqual({ ok: true, keys: null });
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
      ...{ name: "team a", objective: null, requestsPerMinute: 100, revokedAt: null, state: "valid" },
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
