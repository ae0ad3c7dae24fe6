import { describe, expect, it } from "vitest";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import type { PlanningSituation } from "../cascade/explore/situation";
import { explorerOf } from "../cascade/explore/situationExplorer";
import { buildPlan } from "../cascade/plan/buildPlan";
import type { PlannedGateKind } from "../plan/planGates";
import { gateCandidates } from "../stageGates/gateCandidates";
import { withGateScores } from "../stageGates/stageGate";
import { withColumns } from "../stageGates/testing/gateColumns";
import { drawSample } from "../workload/sample";
import { splitPrompts } from "../workload/split";
import { shortWorkload } from "../workload/testing/shortWorkload";
import type { Workload } from "../workload/workload";
import { allBaselines } from "./allBaselines";
import { figuresOf } from "./baselineFigures";
import { busiestLoad } from "./measure";
import { choiceOf } from "./situation";
import { deployedBy, gpusOf, type SystemStage, systemOf } from "./system";

const LADDER = ["qwen2.5-3b", "qwen2.5-32b"];
const PEER = "gemma-2-2b";
const JUDGE = "gemma-2-9b";
const MAX_GPUS = 24;
const engine = await loadGlpkEngine();

const plain = shortWorkload({ prompts: 400, ladder: LADDER, seed: 5 });
const [small] = plain.outcomes.models;
if (small === undefined) throw new Error("a ladder has models");
const besidePeer = { ...plain, outcomes: { ...plain.outcomes, models: [...plain.outcomes.models, { ...small, model: PEER }] } };

/** A plan of both models with one kind of gate, its baselines and what figures of both are measured with. */
function planned(of: Workload, kind: PlannedGateKind, judgeModel?: string) {
  const workload: Workload = { ...of, judge: { kind: "measured" } };
  const documents = gateCandidates(workload, LADDER, () => true).find((one) => one.kind === kind)?.documents;
  if (documents == null) throw new Error(`no gate ${kind}`);
  const situation: PlanningSituation = {
    ...{ workload, workloadId: kind, models: LADDER, requestsPerSecond: 60, gates: documents },
    cluster: {
      ...{ id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 },
      nodes: [1, 2, 3].map((node) => ({ name: `node${node}`, gpus: 8 })),
    },
    judge:
      judgeModel === undefined
        ? { kind: "fixed", secondsPerCall: 0.8, usdPerCall: 0.001 }
        : { kind: "engine", model: judgeModel, rubricTokens: 100, outputTokens: 4 },
  };
  const planning = splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
  const explorer = explorerOf(situation, {
    ...{ models: LADDER, rows: planning, percentile: 95, qualityConfidence: 0.9 },
    cancelled: () => false,
  });
  const built = buildPlan({
    ...{ ...situation, explorer, engine, elapsedSeconds: () => 0 },
    fixed: { stages: [0, 1], thresholds: [50], startBelow: 0 },
    objective: {
      ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityConfidence: 0.9 },
      ...{ qualityFloor: null, latencyBudgetSeconds: null, maxGpus: MAX_GPUS },
    },
  });
  if (built.outcome !== "plan") throw new Error(built.reason);
  const { draft } = built;
  const { gates } = explorer.input;
  if (gates === undefined) throw new Error("the explorer plans with gates");
  const outcomes = withGateScores(workload, gates.stages);
  const floor = draft.predictions.qualityBand.low;
  const at = { explorer, floor, nodes: situation.cluster.nodes, outcomes, planning };
  const { requestsPerSecond, seed } = explorer.input;
  const sample = drawSample(workload, { part: "planning", requestsPerSecond, requests: draft.inputs.workload.sampleRequests, seed });
  const plan = {
    stages: draft.policy.stages.map(({ model }) => LADDER.indexOf(model)),
    ...{ thresholds: draft.policy.thresholds, startBelow: 0 },
  };
  const baselines = [...allBaselines({ ...at, trained: "There is none." }, plan)];
  const systems = baselines.flatMap(({ baseline }) => (baseline.outcome === "system" ? [baseline.system] : []));
  const measured = (system: (typeof systems)[number]) => figuresOf(system, { situation: at, sample, latency: "end-to-end" });
  const load = (system: (typeof systems)[number]) =>
    busiestLoad(system, { outcomes, rows: planning }, { ...choiceOf(explorer), requestsPerSecond });
  return { draft, floor, systems, measured, load, own: systemOf(draft, outcomes, { gates: gates.stages, withJudge: true }) };
}

describe.each([
  ["samples", planned(withColumns(plain, { samples: 2 }), "agreement"), [], "two samples"],
  ["a peer", planned(withColumns(besidePeer, { peers: [PEER] }), "agreement"), [PEER], "engines"],
  ["a sequence", planned(withColumns(plain), "sequence"), [], "nothing"],
  ["a sequence with a judge of its own engines", planned(withColumns(plain), "sequence", JUDGE), [JUDGE], "engines"],
] as const)("baselines of a plan with %s", (_, { draft, floor, systems, measured, load, own }, beside, asks) => {
  it("are measured as the plan is: the plan as a system has the figures that it predicts", () => {
    const { quality, latencySeconds, gpus, costUsdPerRequest } = measured(own);
    const { predictions } = draft;
    expect(quality).toBeCloseTo(predictions.quality, 6);
    expect(latencySeconds).toBeCloseTo(predictions.p95Seconds, 6);
    expect(gpus).toBe(draft.deployment.reduce((sum, deployed) => sum + deployed.gpus, 0));
    expect(costUsdPerRequest).toBeCloseTo(predictions.costUsdPerRequest, 9);
  });

  it("have the plan's gates with what these take, on no more GPUs, and keep the floor", () => {
    const cascades = systems.filter(({ stages, routing }) => routing.kind === "cascade" && stages.length > 1);
    expect(cascades.map(({ name }) => name)).toEqual(expect.arrayContaining(["uniform parallelism", "uniform allocation"]));
    expect(systems.some(({ name }) => name.startsWith("CascadeServe"))).toBe(true);
    for (const system of cascades) {
      if (system.routing.kind !== "cascade") continue;
      expect(system.routing.gates, system.name).toBeDefined();
      const scores = system.routing.thresholds.some((threshold) => threshold > 0);
      const models = deployedBy(system).slice(system.stages.length);
      expect(
        models.map(({ model }) => model),
        system.name,
      ).toEqual(scores ? beside : []);
    }
    for (const system of systems) {
      expect(gpusOf(system), system.name).toBeLessThanOrEqual(MAX_GPUS);
      expect(measured(system).qualityLow, system.name).toBeGreaterThanOrEqual(floor - 1e-9);
    }
  });

  it("count what gates ask of engines in the load of the busiest", () => {
    const uniform = systems.find(({ name }) => name === "uniform allocation");
    const [first, ...larger] = uniform?.stages ?? [];
    if (uniform?.routing.kind !== "cascade" || first === undefined) throw new Error("there is a uniform allocation");
    const { gates: _gates, ...unasked } = uniform.routing;
    const { peers: _peers, judge: _judge, ...stagesAlone } = uniform;
    const many = (own: SystemStage): SystemStage => ({
      ...own,
      replicas: own.replicas.map((one) => ({ ...one, count: 1000 * one.count })),
    });
    // Engines beside the stages are the busiest where the stages have many.
    const stages = asks === "engines" ? [many(first), ...larger.map(many)] : [first, ...larger.map(many)];
    const more = load({ ...uniform, stages }) / load({ ...stagesAlone, stages, routing: unasked });
    if (asks === "engines") expect(more).toBeGreaterThan(10);
    else expect(more).toBeCloseTo(asks === "two samples" ? 3 : 1, 6);
  });
});
