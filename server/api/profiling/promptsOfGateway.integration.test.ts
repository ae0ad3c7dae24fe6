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
}, 60_000);
