import { beforeAll, describe, expect, it } from "vitest";
import { configRefusal } from "@/server/gateway/serving/configRefusal";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import type { GateChoice } from "@/solver/plan/planGates";
import { policySchema } from "@/solver/plan/policySchema";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { asItRuns } from "./asItRuns";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";
import { situationOf } from "./situationOf";

const RATE = 160;
/** With a peer, on twice the GPUs. */
const PEER_RATE = 150;
const PEER_FLOOR = 50;
const FLOOR = 55;
const PEER = "gemma-2-2b";
const generated = shortWorkload({ prompts: 400, ladder: ["qwen2.5-3b", "qwen2.5-32b"], seed: 5 });
const [small] = generated.outcomes.models;
if (small === undefined) throw new Error("a ladder has models");

const situation: PlanningSituation = {
  // As if measured: a sequence is planned with no modelled judge.
  workload: { ...withColumns(generated), judge: { kind: "measured" } },
  workloadId: "with confidence",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: RATE,
  judge: { kind: "fixed", secondsPerCall: 0.8, usdPerCall: 0.001 },
};
/** A ladder to a model of 70B, with a column of agreement with a third model, which is no stage. */
const LADDER = ["qwen2.5-3b", "llama-3.1-70b"];
const answering = [...generated.outcomes.models.map((own, at) => ({ ...own, model: LADDER[at] ?? "" })), { ...small, model: PEER }];
const besidePeer: PlanningSituation = {
  ...situation,
  workload: withColumns({ ...generated, outcomes: { ...generated.outcomes, models: answering } }, { peers: [PEER] }),
  workloadId: "with a peer",
  requestsPerSecond: PEER_RATE,
  cluster: { ...situation.cluster, nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 })) },
  models: LADDER,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: FLOOR,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

/** The plans that were made, by question: several tests look at one. */
const made = new Map<string, PlanDraft>();

function planWith(gateChoice: GateChoice, more: Partial<PlanningSituation> = {}, floor = objective.qualityFloor): PlanDraft {
  const asked = { ...situation, ...more };
  const question = JSON.stringify([gateChoice, asked.workloadId, asked.judge, floor]);
  const known = made.get(question);
  if (known !== undefined) return known;
  const task = { kind: "solve", objective: { ...objective, qualityFloor: floor }, fixed: null, gateChoice } as const;
  const answer = desk.work(asked, task, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  made.set(question, answer.draft);
  return answer.draft;
}

/** A draft as the plan that runs, in its own situation. */
function predictedAgain(draft: PlanDraft, { workload }: PlanningSituation): PlanDraft {
  const own = situationOf(draft, workload);
  const { objective: asked, fixed, ...running } = asItRuns(own, draft);
  const answer = desk.work(running, { kind: "solve", objective: asked, fixed }, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return answer.draft;
}

describe("plans with gates", { timeout: 120_000 }, () => {
  it("take the fastest gate at the floor, and list what every other gives", () => {
    const { policy, predictions, solver } = planWith("any");
    const compared = solver.comparedGates ?? [];
    expect(compared.map(({ kind }) => kind)).toEqual(["judge", "confidence", "scorer", "sequence"]);
    const chosen = compared.filter((one) => one.chosen);
    expect(chosen).toHaveLength(1);
    expect(chosen[0]?.p95Seconds).toBe(predictions.p95Seconds);
    for (const { p95Seconds } of compared) if (p95Seconds !== null) expect(predictions.p95Seconds).toBeLessThanOrEqual(p95Seconds * 1.0001);
    for (const { qualityLow } of compared) if (qualityLow !== null) expect(qualityLow).toBeGreaterThanOrEqual(FLOOR);
    expect(policy.gates).toHaveLength(policy.stages.length - 1);
  });

  it("name gates with their calibration, in a policy that the gateway accepts as it is", () => {
    const { policy, deployment } = planWith("confidence");
    expect(policySchema.parse(policy)).toEqual(policy);
    expect(policy.gates?.every((gate) => gate.kind === "confidence" && gate.calibration !== undefined)).toBe(true);
    const replicas = deployment.map(({ model }) => ({ id: model, model, url: `http://${model}.test`, maxInFlight: 8 }));
    expect(configRefusal({ policy, replicas, judge: null } as unknown as Parameters<typeof configRefusal>[0])).toBeNull();
  });

  it("record the gate that was asked for", () => {
    expect(planWith("confidence").inputs.gateChoice).toBe("confidence");
    expect(planWith("any").inputs.gateChoice).toBeUndefined();
  });

  it("send an answer without a score to the largest model, and say that engines must report log probabilities", () => {
    for (const kind of ["confidence", "scorer", "sequence"] as const) {
      const { policy, predictions } = planWith(kind);
      expect(policy.judge.whenDown, kind).toBe("largest");
      expect(predictions.notes.join(" "), kind).toContain("must report log probabilities");
    }
    const { policy, predictions } = planWith("judge");
    expect(policy.judge.whenDown).toBeUndefined();
    expect(predictions.notes.join(" ")).not.toContain("log probabilities");
  });

  it("cost neither time, money nor GPUs of a judge where no gate asks it", () => {
    const { predictions, deployment, policy } = planWith("confidence", {
      judge: { kind: "engine", model: "llama-3.1-8b", rubricTokens: 100, outputTokens: 4 },
    });
    expect(predictions.judge).toBeUndefined();
    expect(deployment.map(({ model }) => model)).toEqual(policy.stages.map(({ model }) => model));
    expect(predictions.costUsdPerRequest).toBeCloseTo(predictions.costUsdPerHour / 3600 / RATE, 9);
    expect(predictions.judgeOutlooks).toEqual([]);
  });

  it("pay in a sequence for the judge of the doubtful answers alone", () => {
    const [sequence, judge] = [planWith("sequence"), planWith("judge")];
    const judged = ({ predictions: { costUsdPerRequest, costUsdPerHour } }: PlanDraft): number =>
      costUsdPerRequest - costUsdPerHour / 3600 / RATE;
    expect(judged(judge)).toBeCloseTo(0.001, 9);
    expect(judged(sequence)).toBeGreaterThan(0.0001);
    expect(judged(sequence)).toBeLessThan(0.0008);
  });

  it("deploy a peer beside the stages, within the GPUs, and say its load", () => {
    const { policy, deployment, predictions } = planWith("agreement", besidePeer, PEER_FLOOR);
    expect(policy.gates).toMatchObject([{ kind: "agreement", peers: [PEER] }]);
    expect(deployment.map(({ model }) => model)).toEqual([...LADDER, PEER]);
    expect(deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(16);
    expect(predictions.gatePeers?.map(({ model, requestsPerSecond }) => [model, requestsPerSecond])).toEqual([[PEER, PEER_RATE]]);
    expect(predictions.costUsdPerHour).toBe(3 * deployment.reduce((sum, { gpus }) => sum + gpus, 0));
    expect(policy.judge.whenDown).toBe("largest");
    expect(Math.abs(predictions.tableError)).toBeLessThan(0.25);
  });

  it("are predicted as they run with the figures that they promise", () => {
    for (const [kind, more] of [
      ["confidence", {}],
      ["scorer", {}],
      ["sequence", {}],
      ["agreement", besidePeer],
    ] as const) {
      const draft = planWith(kind, more, kind === "agreement" ? PEER_FLOOR : FLOOR);
      const again = predictedAgain(draft, { ...situation, ...more });
      expect(again.predictions.p95Seconds, kind).toBeCloseTo(draft.predictions.p95Seconds, 6);
      expect(again.predictions.quality, kind).toBeCloseTo(draft.predictions.quality, 6);
      expect(again.policy.gates).toEqual(draft.policy.gates);
    }
  });

  it("are no slower at a lower floor", () => {
    const seconds = [45, 50, 55].map((floor) => planWith("confidence", {}, floor).predictions.p95Seconds);
    for (const [at, p95] of seconds.entries()) if (at > 0) expect(p95).toBeGreaterThanOrEqual((seconds[at - 1] ?? 0) * 0.98);
  });

  it("are no slower with a free gate of the judge's own scores than with the judge", () => {
    const models = generated.outcomes.models.map((own) => ({ ...own, confidence: own.judged }));
    const workload = { ...generated, outcomes: { ...generated.outcomes, models } };
    const compared = planWith("any", { workload, workloadId: "alike" }).solver.comparedGates ?? [];
    const secondsOf = (kind: string): number => compared.find((one) => one.kind === kind)?.p95Seconds ?? Number.POSITIVE_INFINITY;
    expect(secondsOf("confidence")).toBeLessThanOrEqual(secondsOf("judge"));
  });

  it("are explored with one gate as they are planned with it, and thresholds set by hand are of that gate's scores", () => {
    const asked = { ...situation, ...besidePeer };
    const explored = desk.work(asked, { kind: "explore", gateChoice: "agreement" }, () => false);
    if (explored.kind !== "exploration") throw new Error(JSON.stringify(explored));
    const exploration = decodeExploration(explored.exploration);
    const choice = choose(exploration, { ...objective, qualityFloor: PEER_FLOOR });
    const draft = planWith("agreement", besidePeer, PEER_FLOOR);
    const chosen = exploration.routings[choice.chosen?.routing ?? 0];
    expect(chosen?.thresholds).toEqual(draft.policy.thresholds);
    // The peer's GPUs are among those that are given.
    expect(choice.chosen?.gpus).toHaveLength(3);
    const fixed = { models: LADDER, thresholds: draft.policy.thresholds };
    const byHand = desk.work(asked, { kind: "solve", objective, fixed, gateChoice: "agreement" }, () => false);
    expect(byHand.kind === "draft" && byHand.draft.policy.gates).toEqual(draft.policy.gates);
  });

  it("are refused in one sentence where the workload does not have what was asked for, and the running gate's scores are not known", () => {
    const work = (more: Partial<PlanningSituation>, gateChoice: GateChoice) =>
      desk.work({ ...situation, ...more }, { kind: "solve", objective, fixed: null, gateChoice }, () => false);
    expect(work({ workload: generated, workloadId: "plain" }, "confidence")).toMatchObject({
      kind: "infeasible",
      answer: { kind: "malformed", reason: expect.stringContaining("does not have what a gate of confidence reads") },
    });
    const draft = planWith("confidence");
    const { objective: asked, fixed, ...running } = asItRuns(situationOf(draft, generated), draft);
    const answer = desk.work({ ...running, workloadId: "plain" }, { kind: "solve", objective: asked, fixed }, () => false);
    expect(answer).toMatchObject({ kind: "infeasible", answer: { reason: expect.stringContaining("has no confidence of the answers") } });
  });

  it("have baselines beside them, whatever their gates ask of engines", () => {
    for (const [gateChoice, more, qualityFloor] of [
      ["agreement", besidePeer, PEER_FLOOR],
      ["sequence", {}, FLOOR],
    ] as const) {
      const task = { kind: "examine", examine: "baselines", objective: { ...objective, qualityFloor }, fixed: null, gateChoice } as const;
      const answer = desk.work({ ...situation, ...more }, task, () => false);
      if (answer.kind !== "examination" || answer.examination.kind !== "baselines") throw new Error(JSON.stringify(answer).slice(0, 400));
      const { planHeldOut, systems } = answer.examination;
      expect(planHeldOut.latencySeconds, gateChoice).toBeGreaterThan(0);
      const cascades = systems.filter(({ routing }) => routing?.thresholds.some((threshold) => threshold > 0));
      expect(cascades.length, gateChoice).toBeGreaterThan(0);
      for (const { cascade } of cascades) expect(cascade.includes(`for its gates ${PEER}`), cascade).toBe(gateChoice === "agreement");
    }
  });

  it("stay the judge's where a workload has no other scores, with nothing to compare", () => {
    const { policy, solver } = planWith("any", { workload: generated, workloadId: "plain" });
    expect(policy.gates).toBeUndefined();
    expect(solver.comparedGates).toBeUndefined();
  });
});
