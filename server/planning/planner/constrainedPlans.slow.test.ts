import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { type GpuCard, gpuCards } from "@/solver/hardware/gpus";
import { memoryFit } from "@/solver/hardware/memoryFit";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { modelCards } from "@/solver/hardware/models";
import { gpuPrices } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { type PlanConstraints, planConstraintsSchema } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

const [SMALL, MIDDLE, LARGE] = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"] as const;
const cluster: ClusterSpec = {
  id: "c",
  name: "c",
  kind: "described",
  gpu: "h100-sxm",
  nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 })),
  usdPerGpuHour: 3,
};
const situation: PlanningSituation = {
  workload: shortWorkload({ prompts: 400, seed: 5 }),
  workloadId: "made-up",
  cluster,
  requestsPerSecond: 200,
};
/** The whole trace, for what holds tables, which are of short runs, against whole simulations. */
const wholeTrace = { workload: generatedWorkload({ prompts: 400, seed: 5 }), workloadId: "whole trace" };
const mixedCluster: ClusterSpec = {
  ...cluster,
  nodes: [{ name: "node1", gpus: 8 }, ...[2, 3].map((node) => ({ name: `node${node}`, gpus: 4, gpu: "l40s" }))],
  otherUsdPerGpuHour: { l40s: 1 },
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 60,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};

let desk: PlanningDesk;
/** The plan under no constraints. */
let plain: PlanDraft;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
  plain = planFor({});
});

interface Asked {
  readonly constraints?: Partial<PlanConstraints>;
  readonly objective?: Partial<Objective>;
  readonly situation?: Partial<PlanningSituation>;
  readonly fixed?: SolveRequest["fixed"];
}

function answerTo(asked: Asked) {
  const constraints = asked.constraints === undefined ? {} : { constraints: planConstraintsSchema.parse(asked.constraints) };
  const solve = { kind: "solve", objective: { ...objective, ...asked.objective }, fixed: asked.fixed ?? null } as const;
  return desk.work({ ...situation, ...asked.situation, ...constraints }, solve, () => false);
}

function planFor(asked: Asked): PlanDraft {
  const answer = answerTo(asked);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  expectPlaced(answer.draft);
  return answer.draft;
}

/** Every replica has its own existing GPUs, the shares of each model are complete, and the cost is that of the GPUs. */
function expectPlaced({ deployment, inputs, predictions }: PlanDraft): void {
  const taken = new Set<string>();
  const prices = gpuPrices(inputs.cluster);
  let usd = 0;
  for (const { replicas, gpu, gpus } of deployment) {
    expect(replicas.reduce((sum, group) => sum + group.count * group.tp * group.pp, 0)).toBe(gpus);
    expect(replicas.reduce((sum, { count, shareEach }) => sum + count * shareEach, 0)).toBeCloseTo(1, 9);
    for (const group of replicas) {
      expect(group.placements).toHaveLength(group.count);
      usd += group.count * group.tp * group.pp * (prices[group.gpu ?? gpu] ?? Number.NaN);
      for (const { node: name, gpus: own } of group.placements.flat()) {
        const node = inputs.cluster.nodes.find((one) => one.name === name);
        expect(node?.gpu ?? inputs.cluster.gpu).toBe(group.gpu ?? gpu);
        for (const index of own) {
          expect(index).toBeLessThan(node?.gpus ?? 0);
          expect(taken.has(`${name}/${index}`)).toBe(false);
          taken.add(`${name}/${index}`);
        }
      }
    }
  }
  expect(predictions.costUsdPerHour).toBeCloseTo(usd, 9);
}

function refusalOf(asked: Asked) {
  const answer = answerTo(asked);
  if (answer.kind !== "infeasible") throw new Error(`not refused but ${answer.kind}`);
  return answer.answer;
}

const replicasOf = (draft: PlanDraft, model: string) => runningReplicas(draft).filter((replica) => replica.model === model);
const nodesOf = (draft: PlanDraft, model: string) =>
  new Set(replicasOf(draft, model).flatMap(({ placements }) => placements.map(({ node }) => node)));
const gpusOf = (draft: PlanDraft) => draft.deployment.reduce((sum, { gpus }) => sum + gpus, 0);
const modelsOf = (draft: PlanDraft) => draft.policy.stages.map(({ model }) => model);

describe("a plan", { timeout: 120_000 }, () => {
  it("tells how far another sample may show its quality and shares elsewhere, and why each model has its shape", () => {
    const { predictions, solver, policy } = plain;
    const { qualityInterval, quality } = predictions;
    expect(qualityInterval?.low).toBeLessThan(quality);
    expect(qualityInterval?.high).toBeGreaterThan(quality);
    for (const { share, shareBand } of predictions.stages) {
      expect(shareBand?.low).toBeLessThanOrEqual(share);
      expect(shareBand?.high).toBeGreaterThanOrEqual(share);
    }
    expect(solver.shapes?.map(({ model }) => model)).toEqual(policy.stages.map(({ model }) => model));
    for (const { says } of solver.shapes ?? []) expect(says).toMatch(/^\d+ × tp \d/);
  });
});

describe("what a replica of one GPU type holds at once", { timeout: 120_000 }, () => {
  it("is what its cache has room for, on average over its requests, and never more than an engine runs", () => {
    const { outcomes, seed } = situation.workload;
    const rows = splitPrompts(outcomes.promptIds.length, seed).planning;
    const mean = (tokens: Int32Array | undefined) => rows.reduce((sum, row) => sum + (tokens?.[row] ?? 0), 0) / rows.length;
    for (const model of [SMALL, LARGE]) {
      const { deployment } = planFor({ objective: { qualityFloor: 1 }, fixed: { models: [model], thresholds: [] } });
      const held = mean(outcomes.inputTokens) + mean(outcomes.models.find((own) => own.model === model)?.outputTokens) / 2;
      for (const { tp, pp, maxInFlight } of deployment[0]?.replicas ?? []) {
        const fit = memoryFit(modelCards[model] as ModelCard, gpuCards["h100-sxm"] as GpuCard, { tp, pp });
        expect(maxInFlight).toBe(Math.min(256, Math.floor((fit.fits ? fit.kvTokens : 0) / held)));
        if (model === LARGE && tp * pp === 1) expect(maxInFlight).toBeLessThan(256);
      }
    }
  });
});

describe("a plan under constraints", { timeout: 120_000 }, () => {
  it("records them, and is the plain plan where none is asked", () => {
    expect(plain.inputs.constraints).toBeUndefined();
    const { solver, ...rest } = planFor({ constraints: {} });
    expect(rest).toEqual((({ solver: _, ...own }) => own)(plain));
    expect(planFor({ constraints: { maxGpus: 12 } }).inputs.constraints).toMatchObject({ maxGpus: 12 });
  });

  it("keeps caps on GPUs and on cost", () => {
    expect(gpusOf(planFor({ constraints: { maxGpus: 9 } }))).toBeLessThanOrEqual(9);
    expect(planFor({ constraints: { maxUsdPerHour: 31 } }).predictions.costUsdPerHour).toBeLessThanOrEqual(31);
  });

  it("leaves excluded models out and runs the others in the shapes asked", () => {
    expect(modelsOf(planFor({ constraints: { excluded: [MIDDLE] } }))).not.toContain(MIDDLE);
    const shaped = planFor({ constraints: { shapes: [{ model: LARGE, tp: 2, pp: 1 }] } });
    for (const { shape } of replicasOf(shaped, LARGE)) expect(shape).toEqual({ tp: 2, pp: 1 });
  });

  it("keeps pinned models, those that are no stage of the cascade too, and pays for them", () => {
    const pinned = planFor({
      constraints: {
        pinned: [
          { model: SMALL, replicas: 2 },
          { model: LARGE, replicas: 3 },
        ],
      },
    });
    expect(replicasOf(pinned, SMALL).length).toBeGreaterThanOrEqual(2);
    expect(replicasOf(pinned, LARGE).length).toBeGreaterThanOrEqual(3);
    expect(pinned.policy.stages).toHaveLength(pinned.predictions.stages.length);
  });

  it("keeps models on their nodes, and every model on as many replicas as asked", () => {
    const bound = planFor({ constraints: { nodes: [{ model: LARGE, only: ["node2"], never: [] }] } });
    if (modelsOf(bound).includes(LARGE)) expect([...nodesOf(bound, LARGE)]).toEqual(["node2"]);
    const least = planFor({ constraints: { minReplicasPerModel: 3 } });
    for (const model of modelsOf(least)) expect(replicasOf(least, model).length).toBeGreaterThanOrEqual(3);
  });

  it("has every model on two nodes where one may be lost, and says what is left then", () => {
    const surviving = planFor({ constraints: { surviveNodeLoss: true } });
    for (const model of modelsOf(surviving)) expect(nodesOf(surviving, model).size).toBe(2);
    const after = Number(/Whichever node is lost, the rest answers within ([0-9.]+) s/.exec(surviving.solver.why.join())?.[1]);
    const intact = surviving.predictions.p95Seconds;
    expect(after).toBeGreaterThan(1.1 * intact);
    // A budget also holds after the loss.
    const between = answerTo({ constraints: { surviveNodeLoss: true }, objective: { latencyBudgetSeconds: (intact + 0.9 * after) / 2 } });
    const why = between.kind === "draft" ? between.draft.solver.why.join() : "";
    if (between.kind === "draft")
      expect(Number(/the rest answers within ([0-9.]+) s/.exec(why)?.[1])).toBeLessThanOrEqual((intact + 0.9 * after) / 2 + 0.01);
  });

  it("leaves what runs as it is where nothing is gained, and changes no more replicas than allowed", () => {
    const running = runningReplicas(plain);
    const again = planFor({ situation: { running } });
    expect(again.solver.why.join()).toContain("0 replicas to start and 0 to stop");
    expect(new Set(runningReplicas(again).map((one) => JSON.stringify(one)))).toEqual(new Set(running.map((one) => JSON.stringify(one))));
    expect(again.inputs.running).toEqual(running);
    const held = planFor({ situation: { running, requestsPerSecond: 180 }, constraints: { maxChangedReplicas: 0 } });
    expect(new Set(runningReplicas(held).map((one) => JSON.stringify(one)))).toEqual(new Set(running.map((one) => JSON.stringify(one))));
  });

  it("routes over engines that are given as they stand, and leaves those of other models alone", () => {
    const on = (model: string, node: string, gpus: readonly number[]) => ({
      model,
      shape: { tp: gpus.length, pp: 1 },
      placements: [{ node, gpus: [...gpus] }],
    });
    const running = [
      ...[0, 1, 2, 3].map((gpu) => on(SMALL, "node1", [gpu])),
      ...[4, 5, 6, 7].map((gpu) => on(MIDDLE, "node1", [gpu])),
      ...[0, 2, 4, 6].map((gpu) => on(LARGE, "node2", [gpu, gpu + 1])),
    ];
    const given = { running, topology: "given", requestsPerSecond: 40 } as const;
    const limited = { maxChangedReplicas: 0 };
    const constraints = planConstraintsSchema.parse(limited);
    const answer = desk.work({ ...situation, ...given, constraints }, { kind: "explore" }, () => false);
    if (answer.kind !== "exploration") throw new Error(JSON.stringify(answer));
    const exploration = decodeExploration(answer.exploration);
    const gpusOf = (model: string): number =>
      running.filter((one) => one.model === model).reduce((sum, { shape }) => sum + shape.tp * shape.pp, 0);
    const candidates = candidatesFor(exploration, objective).filter(({ latencySeconds }) => Number.isFinite(latencySeconds));
    expect(candidates.length).toBeGreaterThan(10);
    for (const { routing, gpus } of candidates)
      expect(gpus).toEqual(exploration.routings[routing]?.stages.map((stage) => gpusOf(exploration.models[stage] ?? "")));
    const [best] = candidates.filter(({ qualityLow }) => qualityLow >= 62).sort((a, b) => a.latencySeconds - b.latencySeconds);
    const plan = planFor({ situation: given, constraints: limited, objective: { qualityFloor: 62 } });
    expect(plan.deployment.map(({ model, gpus }) => [model, gpus])).toEqual([[LARGE, 8]]);
    expect(plan.predictions.p95Seconds / (best?.latencySeconds ?? 0)).toBeGreaterThan(0.8);
    expect(plan.predictions.p95Seconds / (best?.latencySeconds ?? 0)).toBeLessThan(1.25);
  });

  it("is never faster by the tables than without them", () => {
    const tableSeconds = ({ predictions }: PlanDraft) => predictions.p95Seconds * (1 + predictions.tableError);
    const free = tableSeconds(plain);
    for (const constraints of [{ minReplicasPerModel: 4 }, { nodes: [{ model: MIDDLE, only: ["node1"], never: [] }] }, { idleGpus: false }])
      expect(tableSeconds(planFor({ constraints }))).toBeGreaterThan(0.97 * free);
  });
});

describe("constraints that cannot be kept", { timeout: 120_000 }, () => {
  it("are named with the nearest that can, floor and budget among them", () => {
    expect(refusalOf({ constraints: { maxGpus: 3 } })).toMatchObject({
      conflict: [
        { kind: "maxGpus", nearest: expect.any(Number) },
        { kind: "qualityFloor", nearest: expect.any(Number) },
      ],
      bestQuality: expect.any(Number),
    });
    const pinned = refusalOf({ constraints: { pinned: [{ model: LARGE, replicas: 20 }] } });
    expect(pinned).toMatchObject({
      reason: expect.stringContaining(`at least 20 of ${LARGE}`),
      conflict: [{ kind: "pinned", model: LARGE }],
    });
    const running = runningReplicas(plain);
    const changed = refusalOf({ situation: { running }, objective: { qualityFloor: 64 }, constraints: { maxChangedReplicas: 0 } });
    expect(changed.conflict?.map(({ kind }) => kind)).toEqual(["maxChangedReplicas", "qualityFloor"]);
    expect(changed.bestQuality).toBeGreaterThanOrEqual(60);
    const late = refusalOf({ objective: { latencyBudgetSeconds: 5 }, constraints: { maxGpus: 9 } });
    expect(late.conflict?.map(({ kind }) => kind)).toContain("latencyBudgetSeconds");
    expect(late.bestLatencySeconds).toBeGreaterThan(5);
  });

  const pins = (replicas: number) => ({ pinned: [{ model: MIDDLE, replicas }] });
  const conflicting: readonly Asked[] = [
    { constraints: { maxGpus: 2 } },
    { constraints: { maxGpus: 2, ...pins(4) } },
    { constraints: { maxGpus: 5, ...pins(6) } },
    { constraints: { maxUsdPerHour: 9, ...pins(4) } },
    { constraints: { maxGpus: 3, minReplicasPerModel: 3 } },
    { constraints: { pinned: [{ model: LARGE, replicas: 5 }], maxGpus: 6, minReplicasPerModel: 2 } },
    { constraints: { excluded: [SMALL, LARGE] } },
    { constraints: { nodes: [{ model: LARGE, only: ["node1"], never: [] }], pinned: [{ model: LARGE, replicas: 12 }] } },
    { constraints: { surviveNodeLoss: true, maxGpus: 6 } },
    { constraints: { idleGpus: false, maxUsdPerHour: 30 } },
    { constraints: { minReplicasPerModel: 7 }, objective: { latencyBudgetSeconds: 5 } },
    { constraints: { maxGpus: 8 }, objective: { kind: "cost-under-both", latencyBudgetSeconds: 6 }, situation: wholeTrace },
  ];

  it.each(conflicting.map((asked) => [JSON.stringify([asked.constraints, asked.objective]), asked] as const))(
    "conflict only together, and no more once any gives way as offered: %s",
    (_, { constraints = {}, objective: aims = {}, situation: own = {} }) => {
      const { conflict = [], reason } = refusalOf({ constraints, objective: aims, situation: own });
      expect(conflict.length, reason).toBeGreaterThan(0);
      const giveWay = (asked: Asked): number => {
        const answer = answerTo({ ...asked, situation: own });
        return answer.kind === "infeasible" ? (answer.answer.conflict?.length ?? conflict.length) : 0;
      };
      for (const { kind, model, nearest, needs } of conflict) {
        const enough = needs === "giving up this alone is not enough" ? conflict.length : 0;
        const asked = (value: number | null): Asked => {
          if (kind === "qualityFloor" || kind === "latencyBudgetSeconds") return { constraints, objective: { ...aims, [kind]: value } };
          const list = { pinned: [], shapes: [], excluded: [], nodes: [] }[kind as string];
          if (list === undefined) {
            const none = kind === "idleGpus" ? true : kind === "surviveNodeLoss" ? false : null;
            return { constraints: { ...constraints, [kind]: value ?? none }, objective: aims };
          }
          const entries = (constraints as Record<string, unknown[]>)[kind] ?? [];
          const others = entries.filter((entry) => (typeof entry === "string" ? entry : (entry as { model: string }).model) !== model);
          const own = kind === "pinned" && value !== null ? [{ model, replicas: value }] : [];
          return { constraints: { ...constraints, [kind]: [...others, ...own] }, objective: aims };
        };
        expect(giveWay(asked(null)), `${reason} Without ${kind}`).toBeLessThanOrEqual(enough);
        if (nearest === null || kind === "nodes") continue;
        expect(giveWay(asked(nearest)), `${reason} With ${kind} ${nearest}`).toBe(0);
        // One less is not sufficient.
        if (kind === "maxGpus" && nearest > 1)
          expect(giveWay(asked(nearest - 1)), `${reason} With ${kind} ${nearest - 1}`).toBeGreaterThan(0);
        if (kind === "pinned" || kind === "minReplicasPerModel")
          expect(giveWay(asked(nearest + 1)), `${reason} With ${kind} ${nearest + 1}`).toBeGreaterThan(0);
      }
    },
  );

  it("are told from a floor that no plan reaches, and an excluded model that is missed is named alone", () => {
    expect(refusalOf({ objective: { qualityFloor: 99 }, constraints: { minReplicasPerModel: 2 } }).conflict).toBeUndefined();
    const { reason, conflict, bestQuality } = refusalOf({ constraints: { excluded: [SMALL, LARGE] } });
    expect(conflict).toMatchObject([{ kind: "excluded", model: LARGE }, { kind: "qualityFloor" }]);
    expect(reason).toContain(`no replica of ${LARGE}`);
    expect(bestQuality).toBeLessThan(60);
  });

  it("are refused in a sentence where they name what is not there", () => {
    expect(refusalOf({ constraints: { excluded: ["gpt-9"] } }).reason).toContain("names gpt-9, which is not in the workload");
    const nodes = [{ model: LARGE, never: ["node9"] }];
    expect(refusalOf({ constraints: { nodes } }).reason).toContain("names node node9, which the cluster does not have");
    expect(refusalOf({ constraints: { shapes: [{ model: SMALL, tp: 16, pp: 1 }] } })).toMatchObject({
      reason: expect.stringContaining("cannot run as tp 16 x pp 1"),
      conflict: [{ kind: "shapes", model: SMALL }],
    });
    expect(refusalOf({ constraints: { excluded: [SMALL, MIDDLE, LARGE] } })).toMatchObject({
      reason: expect.stringContaining("exclude every model"),
      conflict: [{ model: SMALL }, { model: MIDDLE }, { model: LARGE }],
    });
    const pinned = [{ model: SMALL, replicas: 1 }];
    expect(refusalOf({ constraints: { excluded: [SMALL], pinned } }).reason).toContain("is pinned but is not among the models");
  });
});

describe("the lowest cost under both", { timeout: 120_000 }, () => {
  it("keeps floor and budget once simulated whole, and is never dearer than the fastest plan", () => {
    let dearest = Number.POSITIVE_INFINITY;
    for (const latencyBudgetSeconds of [5, 7, 10, null]) {
      const cheap = planFor({ objective: { kind: "cost-under-both", latencyBudgetSeconds } });
      expect(cheap.predictions.p95Seconds).toBeLessThanOrEqual(latencyBudgetSeconds ?? Number.MAX_VALUE);
      expect(cheap.predictions.qualityBand.low).toBeGreaterThanOrEqual(60);
      expect(cheap.predictions.costUsdPerHour).toBeLessThanOrEqual(Math.min(dearest, plain.predictions.costUsdPerHour));
      dearest = cheap.predictions.costUsdPerHour;
    }
    expect(dearest).toBeLessThan(plain.predictions.costUsdPerHour / 2);
  });

  it("keeps constraints as well", () => {
    const cheap = planFor({ objective: { kind: "cost-under-both", latencyBudgetSeconds: 10 }, constraints: { minReplicasPerModel: 2 } });
    expect(cheap.predictions.p95Seconds).toBeLessThanOrEqual(10);
    for (const model of modelsOf(cheap)) expect(replicasOf(cheap, model).length).toBeGreaterThanOrEqual(2);
  });
});

describe("a latency budget that the tables just miss", { timeout: 120_000 }, () => {
  const rate = { ...wholeTrace, requestsPerSecond: 150 };
  const budget = { latencyBudgetSeconds: 3.65 };

  it("is one that the largest model alone keeps when it is simulated whole, though its tables do not", () => {
    const alone = planFor({ situation: rate, fixed: { models: [LARGE], thresholds: [] } });
    expect(alone.predictions.p95Seconds).toBeLessThan(budget.latencyBudgetSeconds);
    const answer = desk.work({ ...situation, ...rate }, { kind: "explore" }, () => false);
    if (answer.kind !== "exploration") throw new Error(answer.kind);
    const exploration = decodeExploration(answer.exploration);
    const one = exploration.routings.findIndex(({ stages }) => stages.join() === "2");
    expect(candidatesFor(exploration, objective)[one]?.latencySeconds).toBeGreaterThan(budget.latencyBudgetSeconds);
  });

  it("does not hide the best quality within it", () => {
    const { policy, solver } = planFor({ situation: rate, objective: { kind: "quality-under-latency", qualityFloor: null, ...budget } });
    expect(policy.stages).toEqual([{ model: LARGE }]);
    expect(solver.why[0]).toMatch(/^The latency budget binds: the tables alone promise/);
  });

  it("does not hide the only plan at a floor, for latency, for cost, and under constraints", () => {
    for (const kind of ["latency-under-quality", "cost-under-both"] as const)
      for (const constraints of [{}, { minReplicasPerModel: 1 }]) {
        const plan = planFor({ situation: rate, constraints, objective: { kind, qualityFloor: 66, ...budget } });
        expect(modelsOf(plan)).toEqual([LARGE]);
        expect(plan.predictions.p95Seconds).toBeLessThanOrEqual(budget.latencyBudgetSeconds);
      }
  });
});

describe("a cluster of two GPU types", { timeout: 120_000 }, () => {
  it("uses both where that is faster than the better type alone", () => {
    const mixed = planFor({ situation: { ...wholeTrace, cluster: mixedCluster } });
    const types = new Set(mixed.deployment.flatMap(({ gpu, replicas }) => replicas.map((group) => group.gpu ?? gpu)));
    expect(types).toEqual(new Set(["h100-sxm", "l40s"]));
    const alone = planFor({
      situation: { ...wholeTrace, cluster: { ...cluster, nodes: [{ name: "node1", gpus: 8 }] } },
      objective: { maxGpus: 8 },
    });
    expect(mixed.predictions.p95Seconds).toBeLessThan(alone.predictions.p95Seconds);
    expect(Math.abs(mixed.predictions.tableError)).toBeLessThan(0.1);
    const groups = mixed.deployment.flatMap(({ model, gpu, replicas }) => [
      ...new Set(replicas.map((group) => `${model} ${group.gpu ?? gpu}`)),
    ]);
    const explained = mixed.solver.shapes?.map(({ model, says }) => `${model} ${/^On ([^:]+): /.exec(says)?.[1]}`);
    expect(explained?.sort()).toEqual(groups.sort());
    expect(mixed.metadata.name).toMatch(/on 8 x h100-sxm and \d+ x l40s|on \d+ x l40s and 8 x h100-sxm/);
  });

  it("lets replicas of one model hold requests in proportion to their shares of the load", () => {
    const groups = planFor({ situation: { cluster: mixedCluster } }).deployment.flatMap(({ replicas }) =>
      new Set(replicas.map(({ gpu }) => gpu)).size > 1 ? [replicas] : [],
    );
    expect(groups.length).toBeGreaterThan(0);
    for (const replicas of groups) {
      const most = Math.max(...replicas.map(({ shareEach }) => shareEach));
      for (const { shareEach, maxInFlight } of replicas) expect(maxInFlight).toBe(Math.round((256 * shareEach) / most));
    }
  });

  it("has no cheaper plan under a cap on the cost than the lowest cost without", () => {
    const asked = {
      situation: { cluster: mixedCluster, requestsPerSecond: 60 },
      objective: { kind: "cost-under-both", latencyBudgetSeconds: 6 },
    } as const;
    const { costUsdPerHour, p95Seconds } = planFor(asked).predictions;
    expect(p95Seconds).toBeLessThanOrEqual(6);
    for (const share of [0.95, 0.8, 0.65]) {
      const capped = answerTo({ ...asked, constraints: { maxUsdPerHour: share * costUsdPerHour } });
      expect(capped.kind === "draft" ? capped.draft.predictions.costUsdPerHour : null).toBeNull();
    }
  });

  it("keeps models on nodes of one type where asked", () => {
    const nodes = [{ model: MIDDLE, only: ["node2", "node3"], never: [] }];
    const bound = planFor({ situation: { cluster: mixedCluster, requestsPerSecond: 100 }, constraints: { nodes } });
    for (const { model, gpu, replicas } of bound.deployment.filter((own) => own.model === MIDDLE))
      for (const group of replicas) expect([model, group.gpu ?? gpu]).toEqual([MIDDLE, "l40s"]);
  });
});
