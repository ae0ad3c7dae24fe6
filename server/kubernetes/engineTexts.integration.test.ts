import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { needs } from "@/scripts/needs.mjs";
import { objectName } from "./names";
import { hostTools } from "./testing/testHost";
import { mergePatch, standInKubernetes, startTestKubernetes, type TestKubernetes } from "./testing/testKubernetes";

describe("an engine's objects as text", () => {
  let kubernetes: TestKubernetes;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
  }, 60_000);
  afterAll(() => kubernetes.stop(), 60_000);

  const { host, order, options, observed, failing } = hostTools(() => kubernetes);
  const text = (answer: { ok: true; value: string | null } | { ok: false; message: string }): string => {
    if (!answer.ok) throw new Error(answer.message);
    return answer.value ?? "";
  };

  it("shows what somebody changes, and names Secrets without a value", async () => {
    const engine = order([0, 1]);
    const one = host({ env: { HF_TOKEN: { secret: "weights", key: "token" } } });
    const generated = text(one.generate!(engine, "plan"));
    expect(parseAllDocuments(generated).map((document) => document.toJS().kind)).toEqual(["Service", "Deployment"]);
    expect(generated).toContain("secretKeyRef");
    expect((await one.start(engine, { ...options(), planId: "plan" })).ok).toBe(true);
    const name = objectName(engine.id);
    const body = { spec: { progressDeadlineSeconds: 77 } };
    await kubernetes.apps.patchNamespacedDeployment({ name, namespace: kubernetes.namespace, body }, mergePatch);
    expect(text(await one.actual!(engine.id, {}))).toBe(generated.replace(/progressDeadlineSeconds: \d+/, "progressDeadlineSeconds: 77"));
    expect((await one.stop(engine.id, options())).ok).toBe(true);
  }, 60_000);

  it("is tried by the server without a trace, also where engines of Weir's stand in the way for now", async () => {
    const standing = order([0, 1, 2, 3]);
    expect((await host().start(standing, options())).ok).toBe(true);
    const before = await kubernetes.state();
    const name = objectName(order([0, 1]).id);
    expect(await host().rehearse!(order([0, 1]), options())).toEqual({
      ok: true,
      value: `The API server would take Service ${name} and Deployment ${name}: tried as a dry run.`,
    });
    expect(await kubernetes.state()).toEqual(before);
    expect((await host().stop(standing.id, options())).ok).toBe(true);
  }, 60_000);

  it("is refused in a rehearsal for pods of others, which the cluster's notes name, and for an API that is missing", async () => {
    const leave = await kubernetes.occupy(kubernetes.nodes[0], 3);
    expect((await observed()).notes).toContain(`3 GPUs of ${kubernetes.nodes[0]} are held by pods of others, which stay: training.`);
    expect(await failing(() => host().rehearse!(order([0, 1]), options()))).toMatch(/needs 2 GPUs of \S+, of whose 4 1 is free\.$/);
    await leave();
    if (kubernetes.standIn === null) return;
    kubernetes.standIn.absent.add("leaderworkersets");
    const placements = kubernetes.nodes.map((node) => ({ node, gpus: [0, 1] }));
    const engine = { ...order([0, 1]), id: "two-nodes", pp: 2, placements };
    expect(await failing(() => host().rehearse!(engine, options()))).toMatch(/^The cluster does not know LeaderWorkerSet/);
    kubernetes.standIn.absent.clear();
  }, 60_000);

  it("has a log, keys hidden", { ...needs(standInKubernetes), timeout: 60_000 }, async () => {
    const engine = order([2]);
    expect(await host().log!(engine.id, {})).toEqual({ ok: false, message: `Kubernetes has no pod of ${engine.id}.` });
    expect((await host().start(engine, options())).ok).toBe(true);
    const { items } = await kubernetes.core.listNamespacedPod({ namespace: kubernetes.namespace });
    kubernetes.standIn?.logs.set(items[0]?.metadata?.name ?? "", "loading\nHF_TOKEN=hf_abcdefghijkl\nready\n");
    expect(await host().log!(engine.id, {})).toEqual({ ok: true, value: "loading\nHF_TOKEN=***\nready\n" });
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  });
});
