import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { MixPlanAnswer, MixRequest } from "@/server/contracts/studio";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { roundChoices } from "@/solver/plan/policySchema";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { createPlanService } from "./planService";

const folder = mkdtempSync(join(tmpdir(), "weir-mix-plans-"));
const store = openStore(folder);
const planner = createPlanner();
const plans = createPlanService({ store, clusterOf: () => null, planning: createPlanningService(store, planner, createCardStore(folder)) });
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const nodes = [{ name: "node1", gpus: 2 }];
storeWorkload(store, generatedWorkload({ prompts: 200, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 }));
store.clusters.insert({ id: "c", name: "2 x l40s", kind: "described", gpu: "l40s", usdPerGpuHour: 1, nodes }, new Date(0).toISOString());
const pair = workflowDocumentSchema.parse({ name: "pair", agents: [{ name: "a" }, { name: "b", reads: ["a"], part: "revises" }] });
store.declaredWorkflows.put({ document: pair, origin: "weir", createdAt: new Date(0).toISOString(), actor: "ada" });

const request: MixRequest = {
  ...{ clusterId: "c", workloadId: store.workloads.list()[0]?.id ?? "", selection: roundChoices.worth },
  singles: { requestsPerSecond: 2, qualityFloor: 20 },
  workflows: [{ name: "pair", programsPerSecond: 0.5, qualityFloor: 20, predictor: null }],
};

/** The answer, and the phases that were reported before it. */
async function asked(own: Partial<MixRequest>): Promise<{ readonly answer: MixPlanAnswer | null; readonly phases: readonly string[] }> {
  const phases: string[] = [];
  for await (const event of plans.mix({ ...request, ...own }, new AbortController().signal)) {
    if (event.kind === "answer") return { answer: event.answer, phases };
    phases.push(event.progress.phase);
  }
  return { answer: null, phases };
}

it("plans for declared workflows with progress; the plan is kept, listed with its own figures, and approved by its hash", async () => {
  const { answer, phases } = await asked({});
  if (answer?.ok !== true) throw new Error(JSON.stringify(answer));
  expect(phases.length).toBeGreaterThan(0);
  const { id } = answer.plan;
  expect(plans.keep(id, "ada")).toEqual({ ok: true, id });
  const summary = plans.list("c").find((own) => own.id === id);
  expect(summary?.p95Seconds).toBe(answer.plan.predictions.p95Seconds);
  const hash = plans.get(id)?.approvalHashes.c ?? "";
  expect(plans.approve({ planId: id, clusterId: "c", hash, reason: "" }, "ada")).toMatchObject({ ok: true });
  expect(plans.approve({ planId: id, clusterId: "c", hash: "other", reason: "" }, "ada")).toMatchObject({ ok: false });
}, 60_000);

it("refuses what is not known, in a sentence", async () => {
  const of = async (own: Partial<MixRequest>) => (await asked(own)).answer;
  expect(await of({ workflows: [{ ...request.workflows[0]!, name: "gone" }] })).toEqual({
    ok: false,
    kind: "malformed",
    message: "There is no declared workflow gone.",
  });
  expect(await of({ workloadId: "gone" })).toMatchObject({ ok: false, message: "There is no workload gone." });
});
