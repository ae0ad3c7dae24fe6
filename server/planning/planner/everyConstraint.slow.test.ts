import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { endpointNodes } from "@/server/endpoints/attachedEngines";
import { connectionSchema, type EndpointConnection } from "@/server/endpoints/connection";
import { fixedTopology } from "@/server/endpoints/fixedTopology";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { brokenConstraints } from "@/solver/deployment/testing/testBrokenConstraints";
import { noUserCards } from "@/solver/hardware/catalogue";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import { type PlanConstraints, planConstraintsSchema } from "@/solver/plan/constraints";
import type { Objective } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";
import type { PlanningAnswer } from "./planningRequest";

const [SMALL, MIDDLE, LARGE] = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"] as const;
const models = [SMALL, MIDDLE, LARGE];

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

const situation = { workload: shortWorkload({ prompts: 400, seed: 5 }), workloadId: "made-up", requestsPerSecond: 40 };

const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 60,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};

const cluster: ClusterSpec = {
  ...{ id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 },
  nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 })),
};
const mixed: ClusterSpec = {
  ...cluster,
  nodes: [
    { name: "node1", gpus: 8 },
    { name: "node2", gpus: 8, gpu: "l40s" },
  ],
  otherUsdPerGpuHour: { l40s: 1 },
};

const engine = (name: string, model: string, tp: number) => ({
  name,
  url: `http://${name}:1`,
  model,
  gpu: "h100-sxm",
  precision: "bf16",
  tp,
});
/** On either node's name as many engines of each model as a plan may need. */
const connection: EndpointConnection = connectionSchema.parse({
  kind: "endpoints",
  judge: { model: "j", url: "http://judge:1" },
  endpoints: [
    ...[1, 2, 3].map((at) => engine(`small${at}`, SMALL, 1)),
    ...[1, 2, 3].map((at) => engine(`middle${at}`, MIDDLE, 1)),
    ...[1, 2, 3].map((at) => engine(`large${at}`, LARGE, 2)),
    engine("large4", LARGE, 4),
  ],
});

interface Path {
  readonly name: string;
  readonly fixed?: SolveRequest["fixed"];
  /** The planning input under constraints; a sentence if they are refused before planning. */
  situation(constraints: PlanConstraints): PlanningSituation | string;
  /** Two names of nodes. */
  readonly nodes: readonly [string, string];
  /** The reference for the limit on changes. */
  readonly running: readonly RunningReplica[];
  /** Nothing is started or stopped. */
  readonly isGiven?: true;
}

const on = (model: string, node: string, gpus: readonly number[]): RunningReplica => ({
  model,
  shape: { tp: gpus.length, pp: 1 },
  placements: [{ node, gpus: [...gpus] }],
});
const running = [on(SMALL, "node1", [0]), on(LARGE, "node1", [4, 5, 6, 7]), on(LARGE, "node2", [0, 1, 2, 3])];

const described = (of: ClusterSpec) => (constraints: PlanConstraints) => ({ ...situation, cluster: of, running, constraints });
const idle = (constraints: PlanConstraints) => ({ ...situation, cluster, constraints });

function attached(constraints: PlanConstraints): PlanningSituation | string {
  const { gpu, nodes } = endpointNodes(connection);
  const theirs: ClusterSpec = { id: "c", name: "theirs", kind: "endpoints", gpu, nodes, usdPerGpuHour: 3 };
  const given = fixedTopology(connection, { cluster: theirs, userCards: noUserCards, models, constraints, judge: undefined });
  return given.ok ? { ...situation, constraints, ...given.part } : given.message;
}

const onAttached: Path = { name: "attached engines", situation: attached, nodes: ["large1", "large4"], running: [], isGiven: true };
const byHand = { models: [MIDDLE, LARGE], thresholds: [50] };
const paths: readonly Path[] = [
  { name: "a cluster on which nothing runs", situation: idle, nodes: ["node1", "node2"], running: [] },
  { name: "a cluster of one GPU type", situation: described(cluster), nodes: ["node1", "node2"], running },
  { name: "a cluster of two GPU types", situation: described(mixed), nodes: ["node1", "node2"], running },
  { name: "a cascade set by hand", situation: described(cluster), nodes: ["node1", "node2"], running, fixed: byHand },
  onAttached,
  { ...onAttached, name: "attached engines and a cascade set by hand", fixed: byHand },
];

/** null: no constraint of that kind can be unreachable there. */
type Asked<None = never> = (path: Path) => Partial<PlanConstraints> | None;

const rule = (model: string, only: readonly string[]) => ({ nodes: [{ model, only: [...only], never: [] }] });

/** For each kind a value that every path can satisfy. */
const keepable: readonly (readonly [kind: keyof PlanConstraints, asked: Asked])[] = [
  ["pinned", () => ({ pinned: [{ model: SMALL, replicas: 2 }] })],
  ["shapes", () => ({ shapes: [{ model: LARGE, tp: 2, pp: 1 }] })],
  ["excluded", () => ({ excluded: [SMALL] })],
  ["nodes", ({ nodes: [one, other] }) => rule(LARGE, [one, other])],
  ["minReplicasPerModel", () => ({ minReplicasPerModel: 2 })],
  ["surviveNodeLoss", () => ({ surviveNodeLoss: true })],
  ["maxUsdPerHour", () => ({ maxUsdPerHour: 45 })],
  ["maxGpus", () => ({ maxGpus: 15 })],
  ["maxChangedReplicas", () => ({ maxChangedReplicas: 12 })],
  ["idleGpus", () => ({ idleGpus: false, pinned: [{ model: SMALL, replicas: 1 }] })],
];

/** For each kind a value that no path can satisfy, with what it then conflicts with. */
const impossible: readonly (readonly [kind: keyof PlanConstraints, asked: Asked<null>])[] = [
  ["pinned", () => ({ pinned: [{ model: SMALL, replicas: 40 }] })],
  ["shapes", () => ({ shapes: [{ model: LARGE, tp: 8, pp: 2 }], pinned: [{ model: LARGE, replicas: 2 }] })],
  ["excluded", () => ({ excluded: [MIDDLE, LARGE] })],
  ["nodes", ({ nodes: [one] }) => ({ nodes: models.map((model) => ({ model, only: [one], never: [one] })) })],
  ["minReplicasPerModel", () => ({ minReplicasPerModel: 40 })],
  ["surviveNodeLoss", ({ nodes: [, one] }) => ({ surviveNodeLoss: true, ...rule(LARGE, [one]) })],
  ["maxUsdPerHour", () => ({ maxUsdPerHour: 1 })],
  ["maxGpus", () => ({ maxGpus: 1 })],
  ["maxChangedReplicas", ({ isGiven }) => (isGiven ? null : { maxChangedReplicas: 0, pinned: [{ model: MIDDLE, replicas: 1 }] })],
  ["idleGpus", () => ({ idleGpus: false, maxGpus: 15 })],
];

function answerTo(path: Path, constraints: PlanConstraints): PlanningAnswer | string {
  const asked = path.situation(constraints);
  if (typeof asked === "string") return asked;
  return desk.work(asked, { kind: "solve", objective, fixed: path.fixed ?? null }, () => false);
}

describe.each(paths.map((path) => [path.name, path] as const))("on %s", { timeout: 120_000 }, (_, path) => {
  it.each(keepable)("%s binds", (kind, asked) => {
    const constraints = planConstraintsSchema.parse(asked(path));
    const answer = answerTo(path, constraints);
    if (typeof answer === "string" || answer.kind !== "draft") throw new Error(`${kind}: ${JSON.stringify(answer)}`);
    expect(brokenConstraints(answer.draft, constraints, path.running)).toEqual([]);
    expect(answer.draft.inputs.constraints).toEqual(constraints);
  });

  it.each(impossible)(
    "%s is refused in a sentence that names it where it cannot be kept, and never as a lack of capacity",
    (kind, asked) => {
      const impossibly = asked(path);
      if (impossibly === null) return;
      const constraints = planConstraintsSchema.parse(impossibly);
      const answer = answerTo(path, constraints);
      if (typeof answer !== "string" && answer.kind !== "infeasible") throw new Error(`not refused: ${answer.kind}`);
      const reason = typeof answer === "string" ? answer : answer.answer.reason;
      expect(reason).toMatch(/\.$/);
      expect(reason).not.toMatch(/keep up|overloaded|Unstable|Add GPUs/i);
      if (typeof answer !== "string") expect(answer.answer.conflict?.map((one) => one.kind) ?? [], reason).toContain(kind);
    },
  );
});

describe("a pin on attached engines", { timeout: 120_000 }, () => {
  const kept = (constraints: Partial<PlanConstraints>, fixed: SolveRequest["fixed"] = null) => {
    const answer = answerTo({ ...onAttached, fixed }, planConstraintsSchema.parse(constraints));
    if (typeof answer === "string" || answer.kind !== "draft") throw new Error(JSON.stringify(answer));
    return answer.draft;
  };

  it("keeps the engines of a model that no request visits, without a share of the load", () => {
    const large = { models: [LARGE], thresholds: [] };
    expect(kept({}, large).deployment.map(({ model }) => model)).toEqual([LARGE]);
    const pinned = kept({ pinned: [{ model: SMALL, replicas: 2 }] }, large);
    expect(pinned.deployment.map(({ model, replicas }) => [model, replicas.reduce((sum, { count }) => sum + count, 0)])).toEqual([
      [LARGE, 4],
      [SMALL, 3],
    ]);
    expect(pinned.policy.stages).toEqual([{ model: LARGE }]);
    expect(pinned.predictions.costUsdPerHour).toBe(39);
  });

  it("of more engines than are attached is refused with how many there are", () => {
    const answer = answerTo(onAttached, planConstraintsSchema.parse({ pinned: [{ model: SMALL, replicas: 4 }] }));
    if (typeof answer === "string" || answer.kind !== "infeasible") throw new Error(JSON.stringify(answer));
    expect(answer.answer.reason).toBe(`This cannot be kept: at least 4 of ${SMALL} (at most 3 can be had).`);
  });
});
