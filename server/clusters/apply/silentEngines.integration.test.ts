import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { type HeardRequest, type Said, testModels } from "@/server/profiling/testing/testModels";
import { openStore, type Store } from "@/server/store/store";
import type { AdminClient } from "../connector/adminClient";
import { createConnector } from "../connector/clusterConnector";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus } from "../testing/testCluster";
import { createApplyRunner } from "./applyRunner";

const at = "2026-01-01T00:00:00.000Z";
const judged = planOnGpus("judged", { "qwen2.5-3b": [0], "qwen2.5-7b": [1] });
const gates =
  judged.policy.kind === "cascade" ? judged.policy.thresholds.map(() => ({ kind: "confidence", measure: "minimum" }) as const) : [];
const gated = sealPlan(
  { ...judged, metadata: { name: "gated" }, policy: { ...judged.policy, gates } as typeof judged.policy },
  new Date(at),
);

let store: Store;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "weir-silent-engines-"));
  store = openStore(folder);
  store.clusters.insert({ ...gated.inputs.cluster, id: "lab", kind: "endpoints" }, at);
  for (const plan of [judged, gated]) {
    store.plans.keep(plan);
    store.approvals.insert({ planId: plan.id, clusterId: "lab", actor: "a", at, reason: "" });
  }
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
});

/** A cluster of somebody else's engines, all of them one server that answers as `say` tells; `profiled`: models that a profile found silent. */
async function clusterOf(say: (request: HeardRequest) => Said, profiled: readonly string[] = [], graceMs = 60_000) {
  const server = await testModels(say);
  onTestFinished(server.close);
  const engines = targetEngines(gated).map((engine) => ({ ...engine, stopping: false, url: server.url }));
  const host = {
    ...{ start: async () => ({ ok: true, value: "" }) as const, stop: async () => ({ ok: true, value: "" }) as const },
    observe: async () => ({
      ok: true as const,
      value: {
        ...{ gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }], engines, outcomes: null, timeScale: 1, deviates: null, dcgmUrls: [] },
        ...{ judge: { model: "judge", url: "http://127.0.0.1:9" }, topology: "given" as const },
      },
    }),
  };
  const gateway = (async () => ({ ok: true, value: { value: null, etag: null } })) as unknown as AdminClient;
  const connector = createConnector({ host, gateway, planOf: store.plans.get, silentModels: () => profiled });
  const done = async () => ({ ok: true, value: "done" }) as const;
  const runner = createApplyRunner({ store, connectorOf: () => ({ ...connector, applyStep: done, verifyStep: done }), graceMs });
  onTestFinished(() => runner.close());
  const apply = async (plan: typeof gated, kind: "apply" | "rollback" = "apply") => {
    const started = await runner.start({ clusterId: "lab", planId: plan.id, kind, actor: "a" });
    return started.ok ? "started" : started.message;
  };
  return { apply, server };
}

const silent = (_: HeardRequest): Said => ({ text: "y" });
const sentence =
  "The confidence gate of stage 1 reads log probabilities, which the engines of qwen2.5-3b do not report, as a request for one token showed: plan with another gate.";

test.each<[string, (request: HeardRequest) => Said]>([
  ["leaves log probabilities out", silent],
  [
    "refuses them by name",
    ({ logprobs }) => (logprobs ? { status: 403, text: "You may not request logprobs of this model" } : { text: "y" }),
  ],
  ["refuses a request for them without a reason", ({ logprobs }) => (logprobs ? { status: 400 } : { text: "y" })],
])("a plan with a gate that reads log probabilities is refused where an engine %s, after one probe of one token", async (_, say) => {
  const { apply, server } = await clusterOf(say);
  expect(await apply(gated)).toBe(sentence);
  const probes = server.heard.filter(({ request }) => request.logprobs);
  expect(probes.map(({ request }) => [request.model, request.max_tokens])).toEqual([["qwen2.5-3b", 1]]);
  expect(store.applications.list("lab")).toEqual([]);
});

test("it is not refused as a way back, nor where its gates read none, and then no engine is asked", async () => {
  const { apply, server } = await clusterOf(silent);
  expect(await apply(gated, "rollback")).toBe("started");
  expect(server.heard).toEqual([]);
  const other = await clusterOf(silent);
  endAll();
  expect(await other.apply(judged)).toBe("started");
  expect(other.server.heard).toEqual([]);
});

test("requests do not go to engines that came up silent: the roll-out halts before the gateway is switched", async () => {
  let isUp = false;
  const { apply } = await clusterOf((request) => (isUp ? silent(request) : { status: 503 }), [], 200);
  expect(await apply(gated)).toBe("started");
  isUp = true;
  await expect.poll(() => store.applications.list("lab")[0]?.state, { timeout: 10_000 }).toBe("paused");
  const [application] = store.applications.list("lab");
  expect(application?.halt?.sentence).toContain(sentence);
  expect(application?.steps.find(({ state }) => state === "failed")?.kind).toBe("switch-policy");
});

test("an engine that reports them counts more than an earlier profile, and one that shows nothing less", async () => {
  const reporting = await clusterOf(() => ({ text: "y", probability: 0.9 }), ["qwen2.5-3b"]);
  expect(await reporting.apply(gated)).toBe("started");
  endAll();
  const down = await clusterOf(() => ({ status: 500 }), ["qwen2.5-3b"]);
  expect(await down.apply(gated)).toContain("as a profile found");
  const unknown = await clusterOf(() => ({ status: 500 }));
  expect(await unknown.apply(gated)).toBe("started");
});

function endAll(): void {
  for (const application of store.applications.open()) store.applications.save({ ...application, endedAt: at, state: "done" });
}
