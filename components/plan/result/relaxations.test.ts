import { describe, expect, it } from "vitest";
import type { ConflictingConstraint } from "@/solver/cascade/deploy/demands";
import { noConstraints } from "../address/constraintsCodec";
import { knobsOf } from "../address/knobs";
import { type PlanView, planCodec } from "../address/planCodec";
import { objectiveRelaxations, relaxations } from "./relaxations";

const untouched = planCodec.parse(new URLSearchParams());
const asked: PlanView = {
  ...untouched,
  constraints: {
    pinned: [{ model: "large", replicas: 4 }],
    shapes: [{ model: "large", tp: 8, pp: 2 }],
    excluded: ["small"],
    nodes: [{ model: "large", only: ["n1"], never: ["n2"] }],
    minReplicasPerModel: 2,
    surviveNodeLoss: true,
    maxUsdPerHour: 50,
    maxGpus: 16,
    maxChangedReplicas: 1,
    idleGpus: false,
  },
};
const knobs = knobsOf(untouched, { workload: "w", requestsPerSecond: 1, qualityFloor: 85, gpus: 32 });

describe("a conflict", () => {
  const conflicting = (kind: ConflictingConstraint["kind"], nearest: number | null, model: string | null = null) => ({
    kind,
    nearest,
    model,
    says: "",
    needs: "",
  });
  const after = (kind: ConflictingConstraint["kind"], nearest: number | null, model: string | null = null) =>
    relaxations(asked, conflicting(kind, nearest, model)).map(({ says, change }) => [says, { ...asked, ...change }] as const);

  it("is resolved by the nearest value or by giving the constraint up", () => {
    const [pin, noPin] = after("pinned", 2, "large");
    expect(pin).toMatchObject(["Ask for 2", { constraints: { pinned: [{ model: "large", replicas: 2 }] } }]);
    expect(noPin).toMatchObject(["Drop it", { constraints: { pinned: [] } }]);
    expect(after("minReplicasPerModel", 0).map(([says]) => says)).toEqual(["Drop it"]);
    expect(after("maxChangedReplicas", 5)[0]).toMatchObject(["Allow 5", { constraints: { maxChangedReplicas: 5 } }]);
    expect(after("excluded", 1, "small")).toMatchObject([["Allow small", { constraints: { excluded: [] } }]]);
    expect(after("shapes", null, "large")).toMatchObject([["Let the planner choose its shape", { constraints: { shapes: [] } }]]);
    expect(after("nodes", 1, "large")).toMatchObject([["Allow every node", { constraints: { nodes: [] } }]]);
    expect(after("surviveNodeLoss", 1)).toMatchObject([["Drop it", { constraints: { surviveNodeLoss: false } }]]);
    expect(after("idleGpus", 3)).toMatchObject([["Allow idle GPUs", { constraints: { idleGpus: true } }]]);
    expect(after("latencyBudgetSeconds", 3)).toEqual([]);
  });

  it("never rounds a cap on the bill below what is needed", () => {
    expect(after("maxUsdPerHour", 78.451)[0]).toMatchObject(["Allow $78.46 an hour", { constraints: { maxUsdPerHour: 78.46 } }]);
    expect(after("maxUsdPerHour", 78.45)[0]).toMatchObject(["Allow $78.45 an hour", { constraints: { maxUsdPerHour: 78.45 } }]);
  });

  it("over GPUs lifts the knob with the constraint", () => {
    const [raised, all] = relaxations({ ...asked, gpus: 12 }, conflicting("maxGpus", 24));
    expect(raised).toMatchObject({ says: "Allow 24 GPUs", change: { gpus: 24, constraints: { maxGpus: 24 } } });
    expect(all).toMatchObject({ says: "Allow all GPUs", change: { gpus: null, constraints: { maxGpus: null } } });
    expect(relaxations({ ...untouched, gpus: 12 }, conflicting("maxGpus", 24))[0]?.change).toEqual({
      gpus: 24,
      constraints: noConstraints,
    });
  });

  it("with floor or budget is resolved by going as far as can be reached, rounded to the safe side", () => {
    const tight = { ...knobs, qualityFloor: 90, latencyBudgetSeconds: 2 };
    expect(objectiveRelaxations(tight, { bestQuality: 86.17, bestLatencySeconds: 3.41 })).toEqual([
      { says: "Lower the floor to 86.1", change: { qualityFloor: 86.1 } },
      { says: "Raise the budget to 3.50\u00a0s", change: { latencyBudgetSeconds: 3.5 } },
    ]);
    expect(objectiveRelaxations(tight, { bestQuality: null, bestLatencySeconds: 1.5 })).toEqual([]);
  });
});
