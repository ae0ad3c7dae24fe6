import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { weirIn } from "@/server/cli/testing/testWeir";
import { type SolveRequest, solveSchema } from "@/server/contracts/planRequest";
import type { SolveEvent } from "@/server/contracts/studio";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { workloadLines } from "@/server/workloads/workloadLines";
import { type Plan, planSchema } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { createPlanService, type PlanService } from "./planService";

const JUDGE_SECONDS = 0.27;
const FLOOR = 45;
const BUDGET_SECONDS = 8;

describe("the highest rate of a request", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-highest-rate-"));
  const workload = shortWorkload({ prompts: 400, seed: 4 });
  const smallest = workload.outcomes.models[0]?.model ?? "";
  let store: Store;
  let planner: Planner;
  let plans: PlanService;
  let request: SolveRequest;
  beforeAll(() => {
    store = openStore(folder);
    planner = createPlanner();
    plans = createPlanService({
      store,
      clusterOf: () => null,
      planning: createPlanningService(store, planner, createCardStore(folder)),
    });
    const nodes = [{ name: "node1", gpus: 4 }];
    store.clusters.insert({ id: "c", name: "c", kind: "described", gpu: "l40s", nodes, usdPerGpuHour: 1 }, new Date().toISOString());
    request = solveSchema.parse({
      workloadId: storeWorkload(store, workload),
      clusterId: "c",
      requestsPerSecond: 6,
      judge: { kind: "fixed", secondsPerCall: JUDGE_SECONDS },
      rateChoice: "highest",
      objective: {
        kind: "latency-under-quality",
        latency: "end-to-end",
        percentile: 95,
        qualityFloor: FLOOR,
        qualityConfidence: 0.9,
        latencyBudgetSeconds: BUDGET_SECONDS,
        maxGpus: 4,
      },
      fixed: null,
    });
  });
  afterAll(async () => {
    await planner.close();
    store.close();
    rmSync(folder, { recursive: true });
  });

  async function solve(asked: SolveRequest): Promise<{ readonly events: readonly SolveEvent[]; readonly plan: Plan }> {
    const events: SolveEvent[] = [];
    for await (const event of plans.solve(asked, new AbortController().signal)) events.push(event);
    const last = events.at(-1);
    if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
    return { events, plan: last.answer.plan };
  }

  /** Of the request above, searched for once. */
  let searched: Promise<Awaited<ReturnType<typeof solve>>> | undefined;
  const search = () => (searched ??= solve(request));

  it("is that of the command line for the same input, in one document that can be approved by its hash", async () => {
    const { plan } = await search();
    const { inputs, predictions, solver, policy, deployment } = plan;
    expect(inputs).toMatchObject({ rateChoice: "highest", workload: { requestsPerSecond: expect.any(Number) } });
    expect(predictions.p95Seconds).toBeLessThanOrEqual(BUDGET_SECONDS);
    expect(predictions.qualityBand.low).toBeGreaterThanOrEqual(FLOOR);
    expect(solver.highestRate?.refused?.requestsPerSecond).toBeLessThanOrEqual(1.02 * inputs.workload.requestsPerSecond);

    const file = join(folder, "workload.jsonl");
    writeFileSync(file, [...workloadLines(workload)].join(""));
    const { code, stdout, stderr } = await weirIn(folder)(
      ...["plan", "--workload", file, "--rate", "6", "--gpu", "l40s", "--nodes", "1", "--gpus-per-node", "4"],
      ...[
        "--quality",
        String(FLOOR),
        "--latency",
        String(BUDGET_SECONDS),
        "--judge-seconds",
        String(JUDGE_SECONDS),
        "--highest-rate",
        "--json",
      ],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const own = planSchema.parse(JSON.parse(stdout));
    expect(own.inputs.workload.requestsPerSecond).toBe(inputs.workload.requestsPerSecond);
    expect(own).toMatchObject({
      policy,
      deployment,
      inputs: { rateChoice: "highest" },
      predictions: { p95Seconds: predictions.p95Seconds },
    });
    expect(own.solver.highestRate).toEqual(solver.highestRate);

    const hash = plans.get(plan.id)?.approvalHashes.c ?? "";
    expect(plans.approve({ planId: plan.id, clusterId: "c", hash, reason: "" }, "someone")).toMatchObject({ ok: true });
    expect(plans.get(plan.id)?.plan).toEqual(plan);
  });

  it("is reported rate by rate, and the next rate above it has no plan", async () => {
    const { events, plan } = await search();
    const rates = events.flatMap((event) => (event.kind === "progress" ? (event.progress.rate ?? []) : []));
    expect(rates[0]).toEqual({ requestsPerSecond: 6, number: 1 });
    expect(new Set(rates.map(({ number }) => number)).size).toBeGreaterThan(3);
    const { rateChoice: _, ...given } = request;
    const next = plan.solver.highestRate?.refused;
    if (next == null) throw new Error("nothing refused a rate");
    await expect(solve({ ...given, requestsPerSecond: next.requestsPerSecond })).rejects.toThrow(next.reason.slice(0, 20));
  });

  it("of a model set by hand keeps the budget, which it exceeds at the next rate", async () => {
    const { rateChoice: _, ...given } = { ...request, fixed: { models: [smallest], thresholds: [] } };
    const { plan } = await solve({ ...given, rateChoice: "highest" });
    expect(plan.predictions.p95Seconds).toBeLessThanOrEqual(BUDGET_SECONDS);
    const next = plan.solver.highestRate?.refused;
    expect(next?.kind).toBe("latency-budget");
    const above = await solve({ ...given, requestsPerSecond: next?.requestsPerSecond ?? 0 });
    expect(above.plan.predictions.p95Seconds).toBeGreaterThan(BUDGET_SECONDS);
  });

  it("needs a latency budget, and is not the lowest cost", () => {
    const under = (objective: Partial<SolveRequest["objective"]>) =>
      solveSchema.safeParse({ ...request, objective: { ...request.objective, ...objective } });
    expect(under({}).success).toBe(true);
    expect(under({ latencyBudgetSeconds: null }).error?.issues[0]?.message).toContain("give latencyBudgetSeconds");
    expect(under({ kind: "cost-under-both" }).error?.issues[0]?.message).toContain("lowest cost");
  });
});
