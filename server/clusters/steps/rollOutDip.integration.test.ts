import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { createPlanner } from "@/server/planning/planner/planner";
import type { Resolved } from "@/server/planning/planner/planningRequest";
import { situationOf } from "@/server/planning/planner/situationOf";
import type { Plan } from "@/solver/plan/plan";
import { deployedModelsOf } from "@/solver/plan/policySchema";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { planSteps, type RollOut } from "./planSteps";
import { type DipAsked, rollOutDip } from "./rollOutDip";
import { targetEngines } from "./targetEngines";

const workload = shortWorkload({ prompts: 1500, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const planner = createPlanner();
const signal = new AbortController().signal;
const RATE = 30;

const request = (change: Partial<Resolved<SolveRequest>> = {}): Resolved<SolveRequest> => ({
  workload,
  workloadId: "w",
  cluster: { id: "c", name: "c", kind: "described", gpu: "l40s", nodes: [{ name: "node1", gpus: 6 }], usdPerGpuHour: 1 },
  requestsPerSecond: RATE,
  objective: {
    ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30 },
    ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 6 },
  },
  fixed: { models: ["qwen2.5-3b", "qwen2.5-7b"], thresholds: [30] },
  ...change,
});

async function planFor(change: Partial<Resolved<SolveRequest>>): Promise<Plan> {
  const answer = await planner.solve(request(change));
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  return answer.plan;
}

const rollOutTo = (target: Plan, running: Plan | null): RollOut => ({
  standing: running === null ? [] : targetEngines(running).map((engine) => ({ ...engine, stopping: false })),
  routing: {
    planId: running?.id ?? null,
    active: running === null ? [] : targetEngines(running).map(({ id }) => id),
    cordoned: [],
  },
  inForce: { planId: running?.id ?? null, models: running === null ? [] : deployedModelsOf(running.policy) },
  target: { planId: target.id, models: deployedModelsOf(target.policy), engines: targetEngines(target) },
  loadOutcomes: null,
});

async function dipOf(target: Plan, running: Plan | null, change: Partial<DipAsked> = {}) {
  const rollOut = rollOutTo(target, running);
  const requestsPerSecond = change.rate?.requestsPerSecond ?? RATE;
  const answer = await rollOutDip({
    rollOut,
    steps: planSteps(rollOut),
    running,
    target,
    rate: { requestsPerSecond, basis: "as planned" },
    applications: [],
    timeScale: 1,
    serve: (plan, servings) => {
      const { policy } = plan;
      if (policy.kind !== "cascade") throw new Error("no cascade");
      return planner.serve({ ...situationOf({ ...plan, policy }, workload), requestsPerSecond }, servings, { signal });
    },
    ...change,
  });
  if (!answer.ok) throw new Error(answer.message);
  return answer.dip;
}

describe("rollOutDip", { timeout: 120_000 }, () => {
  let few: Plan;
  let other: Plan;
  beforeAll(async () => {
    few = await planFor({});
    other = await planFor({ fixed: { models: ["qwen2.5-3b", "qwen2.5-7b"], thresholds: [90] } });
  }, 60_000);
  afterAll(() => planner.close());

  it("predicts of a plan's own engines at its own rate what the plan promises", async () => {
    const dip = await dipOf(few, null);
    expect(dip.after.p95Seconds).toBe(few.predictions.p95Seconds);
    const busiest = Math.max(...few.predictions.stages.map(({ utilisation }) => utilisation));
    expect(dip.after.capacityPerSecond! / (RATE / busiest)).toBeGreaterThan(0.85);
    expect(dip.after.capacityPerSecond! / (RATE / busiest)).toBeLessThan(1.15);
    expect(dip.before).toBeNull();
    expect(dip.basis.join()).not.toContain("second of the clock");
    expect((await dipOf(few, null, { timeScale: 3 })).basis).toContainEqual(
      expect.stringContaining("3 pass here in a second of the clock"),
    );
    const served = dip.phases.find(({ planId }) => planId !== null);
    expect(dip.says).toMatch(
      new RegExp(`^Nothing is served until step ${served?.fromStep}; then p95 \\S+ s at most, at 30 requests/s\\.$`),
    );
  });

  it("says of a plan with fewer engines that capacity falls, though no moment has less than the plan keeps", async () => {
    const deployment = few.deployment.map((one) => ({
      ...one,
      replicas: one.replicas.slice(0, 1).map((group) => ({ ...group, count: 1, placements: group.placements.slice(0, 1) })),
    }));
    const leaner = { ...few, id: "leaner", deployment };
    expect(targetEngines(leaner).length).toBeLessThan(targetEngines(few).length);
    const dip = await dipOf(leaner, few, { rate: { requestsPerSecond: 1, basis: "few" } });
    expect(dip.after.capacityPerSecond).toBeLessThan(0.95 * dip.before!.capacityPerSecond!);
    expect(dip.says).toMatch(/^Capacity falls from \S+ to \S+ requests\/s, as this plan has it, and no moment has less: p95/);
  });

  it("has nothing to tell of a plan that is in force as it is", async () => {
    const dip = await dipOf(few, few);
    expect(dip).toMatchObject({ phases: [], before: dip.after, says: "Nothing changes: requests are served as they are now." });
  });

  it("finds less capacity while GPUs change hands than before and after, and says when", async () => {
    const dip = await dipOf(other, few);
    expect(few.id).not.toBe(other.id);
    const full = Math.min(dip.before!.capacityPerSecond!, dip.after.capacityPerSecond!);
    const least = Math.min(...dip.phases.map(({ capacityPerSecond }) => capacityPerSecond ?? 0));
    expect(least).toBeLessThan(0.95 * full);
    expect(dip.says).toMatch(/^(At|From) step \d.* p95 \S+ s at 30 requests\/s \(before p95 \S+ s, after p95 \S+ s\)\.$/);
    const drained = dip.phases.filter(({ fromStep, toStep }) => fromStep !== toStep);
    expect(drained.every(({ seconds }) => seconds > 0)).toBe(true);
    expect(dip.phases.every(({ seconds }) => seconds >= 0 && Number.isFinite(seconds))).toBe(true);
    const served = dip.phases.filter(({ replicas }) => replicas.every(({ serving }) => serving > 0));
    expect(served.every(({ capacityPerSecond }) => capacityPerSecond! > 0)).toBe(true);
  });

  it("has no latency for a moment at which a model has no engine, and says that its requests wait", async () => {
    const [small, large] = targetEngines(few).reduce<string[][]>(
      (sides, { id, model }) => sides.map((side, index) => ((model === "qwen2.5-3b") === (index === 0) ? [...side, id] : side)),
      [[], []],
    );
    const rollOut = rollOutTo(few, few);
    const steps = [
      { action: { kind: "switch-policy", routing: { planId: few.id, active: small!, cordoned: large! } }, text: "without the large" },
      { action: { kind: "switch-policy", routing: rollOut.routing }, text: "with all" },
    ] as const;
    const dip = await dipOf(few, few, { rollOut, steps });
    expect(dip.phases[0]).toMatchObject({ capacityPerSecond: null, p95Seconds: null });
    expect(dip.phases[0]!.replicas).toContainEqual({ model: "qwen2.5-7b", serving: 0, of: large!.length });
    expect(dip.says).toContain("no engine of qwen2.5-7b serves");
    expect(dip.phases[1]!.p95Seconds).toBe(dip.after.p95Seconds);
  });

  it("has no latency where the engines left do not keep up, and says so", async () => {
    const dip = await dipOf(other, few, { rate: { requestsPerSecond: 100_000, basis: "far too many" } });
    expect(dip.after.p95Seconds).toBeNull();
    expect(dip.says).toMatch(/are overloaded|no engine/);
  });
});
