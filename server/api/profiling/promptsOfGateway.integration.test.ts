import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { createGatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { askCascade, planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import { gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { createUploads } from "@/server/store/uploads";
import { createPromptService } from "./promptService";

const clusterId = "embedded";
const plan = planOnGpus("running", { "qwen2.5-3b": [0] });
const at = "2026-01-01T00:00:00.000Z";

it("takes prompts of a gateway's decision records once these keep some, and of a capture once one has begun", async () => {
  const cluster = await startTestCluster({ signed: false });
  const folder = mkdtempSync(join(tmpdir(), "weir-gateway-prompts-"));
  const { store, gateway } = cluster;
  onTestFinished(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });
  store.clusters.insert({ ...plan.inputs.cluster, id: clusterId, kind: "embedded" }, at);
  store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
  store.plans.keep(plan);
  store.approvals.insert({ planId: plan.id, clusterId, actor: "a", at, reason: "" });
  const runner = createApplyRunner({ store, connectorOf: () => cluster.connector, graceMs: 0 });
  const started = await runner.start({ clusterId, planId: plan.id, kind: "apply", actor: "ada" });
  if (!started.ok) throw new Error(started.message);
  await expect.poll(() => store.applications.get(started.application.id)?.state, { timeout: 30_000 }).toBe("done");
  await runner.close();
  const controlled = {
    ...{ admin: gateway, audit: createGatewayAudit({ store, clusterId, gateway }) },
    ...{ look: async () => undefined, models: () => null },
  };
  const service = createPromptService({ store, uploads: createUploads(folder), gatewayOf: (id) => (id === clusterId ? controlled : null) });
  onTestFinished(() => service.close());
  const served = async () => {
    const answer = await gateway("/status", { schema: gatewayStatusSchema });
    return answer.ok ? answer.value.value?.lastDecision : undefined;
  };

  expect((await askCascade(cluster.gatewayUrl, "running")).status).toBe(200);
  expect(await service.takeFromGateway({ clusterId, from: "records" }, "ada")).toMatchObject({
    ok: false,
    message: expect.stringContaining("recordedPromptCharacters"),
  });
  const config = await gateway("/config", { schema: gatewayConfigSchema });
  if (!config.ok || config.value.value === null) throw new Error("no configuration");
  const body = { ...config.value.value, settings: { recordedPromptCharacters: 100 }, by: "ada" };
  const headers = { "if-match": config.value.etag ?? "" };
  expect(await gateway("/config", { method: "PUT", body, headers, schema: z.unknown() })).toMatchObject({ ok: true });
  for (let asked = 0; asked < 3; asked += 1) await askCascade(cluster.gatewayUrl, "running");
  await expect.poll(served).toBe(4);

  const taken = await service.takeFromGateway({ clusterId, from: "records" }, "ada");
  expect(taken).toMatchObject({
    ok: true,
    retentionDays: null,
    survey: { form: "record", prompts: 3, skipped: 0, cutPrompts: 0, withTime: 3 },
  });
  if (!taken.ok) return;
  const request = { uploadId: taken.uploadId, name: "from traffic", size: 2, by: ["time"] as const, draw: 1, retentionDays: 7 };
  const sampled = await service.sample(request, "ada");
  if (!sampled.ok) throw new Error(sampled.message);
  expect(store.prompts.prompt(sampled.id, 0)?.body).toEqual({ messages: [{ role: "user", content: "hello" }] });
  expect(store.prompts.get(sampled.id)).toMatchObject({ from: expect.stringContaining("decision records of"), population: 3 });
  const actions = store.audit.list(10).map(({ action, detail }) => `${action}: ${detail}`);
  expect(actions).toContainEqual("take prompts of a gateway: 3 prompts of decision records");
  expect(actions.join()).not.toContain("hello");

  expect(await service.takeFromGateway({ clusterId, from: "captured" }, "ada")).toMatchObject({
    ok: false,
    message: expect.stringContaining("start a capture"),
  });
  const capture = { share: 1, keys: ["*"], redactions: { builtIn: [], own: [] }, retentionDays: 1, mostBytes: 1e7, by: "ada", reason: "" };
  expect(await gateway("/capture", { method: "PUT", body: capture, schema: z.unknown() })).toMatchObject({ ok: true });
  for (let asked = 0; asked < 3; asked += 1) await askCascade(cluster.gatewayUrl, "running");
  const captured = async () => {
    const read = await service.takeFromGateway({ clusterId, from: "captured" }, "ada");
    return read.ok ? { ...read.survey, retentionDays: read.retentionDays } : null;
  };
  await expect.poll(captured, { timeout: 10_000 }).toMatchObject({ form: "chat", prompts: 3, skipped: 0, withTime: 3, retentionDays: 1 });

  // What is captured of a user is deleted wherever it went.
  const user = "carol@corp.example";
  const ask = { model: "cascade/running", user, messages: [{ role: "user", content: "of carol" }], max_tokens: 2 };
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(ask) };
  expect((await fetch(`${cluster.gatewayUrl}/v1/chat/completions`, post)).status).toBe(200);
  await expect.poll(captured, { timeout: 10_000 }).toMatchObject({ prompts: 4 });
  const [first, second] = [
    await service.takeFromGateway({ clusterId, from: "captured" }, "ada"),
    await service.takeFromGateway({ clusterId, from: "captured" }, "ada"),
  ];
  if (!first.ok || !second.ok) throw new Error("no prompts");
  const hers = await service.sample({ ...request, uploadId: first.uploadId, name: "with hers", size: 4 }, "ada");
  if (!hers.ok) throw new Error(hers.message);
  const owners = [0, 1, 2, 3].map((position) => store.prompts.prompt(hers.id, position)?.owner);
  const nobody = { clusterId, key: null, user: null };
  expect(owners).toEqual(expect.arrayContaining([nobody, { ...nobody, user: expect.stringMatching(/^[0-9a-f]{32}$/) }]));
  expect(await service.eraseCaptured({ clusterId, of: { user }, reason: "she asked" }, "ada")).toEqual({
    ...{ ok: true, prompts: 1, samples: ["with hers"], inUse: [] },
  });
  expect([store.prompts.get(hers.id)?.deleted, store.prompts.get(sampled.id)?.deleted]).toEqual([true, false]);
  expect(await service.sample({ ...request, uploadId: second.uploadId, name: "late" }, "ada")).toMatchObject({ ok: false });
  expect(await captured()).toMatchObject({ prompts: 3 });
  const told = store.audit.list(20);
  expect(told.find(({ action }) => action === "erase captured prompts")).toMatchObject({
    ...{ actor: "ada", objectKind: "capture", clusterId },
    detail: expect.stringMatching(/^of the user with the pseudonym [0-9a-f]{32}: 1 prompts at the gateway, 1 samples; she asked$/),
  });
  expect(JSON.stringify(told)).not.toMatch(/carol/);
  expect(await service.eraseCaptured({ clusterId: "nowhere", of: { user }, reason: "" }, "ada")).toMatchObject({ ok: false });
}, 60_000);
