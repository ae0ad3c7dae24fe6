import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadHighsEngine } from "@/server/planning/highsEngine";
import { constraintsOf, type PlanConstraints } from "./constraints";
import { type Conflict, explainInfeasible } from "./explainInfeasible";
import type { DeploymentProblem, Solving } from "./problem";
import { solveDeployment } from "./solveDeployment";

const engine = await loadHighsEngine();
const solving: Solving = { engine, timeLimitSeconds: 60, nowSeconds: () => performance.now() / 1000 };

/** Sustains 1 request a second on each GPU, at 1 s and more. */
const option = (gpu: string, tp: number, requestsPerSecond = tp) => ({
  gpu,
  shape: { tp, pp: 1 },
  curve: {
    rates: Float64Array.of(0.1 * requestsPerSecond, requestsPerSecond),
    seconds: Float64Array.of(1 / tp, 2 / tp),
    saturationRequestsPerSecond: 1.1 * requestsPerSecond,
  },
});

/** Two stages of 4 and 3 requests a second: 7 of 8 GPUs on two nodes. */
const base: DeploymentProblem = {
  stages: [
    { model: "small", requestsPerSecond: 4, options: [option("a", 1), option("a", 2)] },
    { model: "large", requestsPerSecond: 3, options: [option("a", 1), option("a", 4, 3)] },
  ],
  nodes: [
    { name: "n1", gpu: "a", gpus: 4 },
    { name: "n2", gpu: "a", gpus: 4 },
  ],
  usdPerGpuHour: { a: 2 },
  running: [],
  constraints: {
    pinned: [],
    shapes: [],
    excluded: [],
    nodes: [],
    minReplicasPerModel: null,
    surviveNodeLoss: false,
    maxUsdPerHour: null,
    maxGpus: null,
    maxChangedReplicas: null,
    idleGpus: true,
  },
  objective: { kind: "latency" },
};

const constrained = (constraints: Partial<PlanConstraints>, problem = base): DeploymentProblem => ({
  ...problem,
  constraints: { ...problem.constraints, ...constraints },
});

function conflictOf(problem: DeploymentProblem): Conflict {
  const conflict = explainInfeasible(problem, solving);
  if (conflict === null) throw new Error("expected a conflict");
  expect(conflict.proven).toBe(true);
  // The set conflicts, and no longer does once any one of it is dropped.
  const all = constraintsOf(problem);
  const named = all.filter(({ says }) => conflict.constraints.some((other) => other.says === says));
  const rest = all.filter((name) => !named.includes(name));
  expect(named.length).toBe(conflict.constraints.length);
  const only = rest.reduce((less, name) => name.without(less), problem);
  expect(solveDeployment(only, solving).outcome).toBe("infeasible");
  for (const name of named) expect(solveDeployment(name.without(only), solving).outcome).toBe("deployment");
  return conflict;
}

const brief = (conflict: Conflict) => conflict.constraints.map(({ says, nearest, needs }) => [says, nearest, needs]);

describe("why nothing can be deployed", () => {
  it("is nothing when something can", () => {
    expect(explainInfeasible(base, solving)).toBeNull();
  });

  it("names one constraint alone, of every kind, with its nearest feasible value", () => {
    const running = Array.from({ length: 4 }, (_, gpu) => ({
      model: "small",
      shape: { tp: 1, pp: 1 },
      placements: [{ node: "n1", gpus: [gpu] }],
    }));
    const cases: readonly [DeploymentProblem, readonly (string | number | null)[]][] = [
      [constrained({ maxUsdPerHour: 10.5 }), ["at most 10.5 USD/hour", 14, "needs 14 USD/hour"]],
      [constrained({ maxGpus: 5 }), ["at most 5 GPUs", 7, "needs 7 GPUs"]],
      [constrained({ maxChangedReplicas: 0 }, { ...base, running }), ["at most 0 replicas started or stopped", 1, "needs 1"]],
      [constrained({ surviveNodeLoss: true }), ["survive the loss of any one node", 1, "needs 1 node more of 4 x a"]],
      [constrained({ minReplicasPerModel: 5 }), ["at least 5 replicas of every model", 4, "at most 4 can be had"]],
      [constrained({ pinned: [{ model: "large", replicas: 6 }] }), ["at least 6 of large", 4, "at most 4 can be had"]],
      [constrained({ pinned: [{ model: "absent", replicas: 1 }] }), ["at least 1 of absent", 0, "at most 0 can be had"]],
      [constrained({ shapes: [{ model: "small", tp: 4, pp: 1 }] }), ["small only as tp 4 x pp 1", null, "tp 1 x pp 1 would do"]],
      [constrained({ excluded: ["large"] }), ["no replica of large", 1, "needs 1 replica of it"]],
      [
        constrained({ nodes: [{ model: "small", only: ["n1"], never: ["n1"] }] }),
        ["small only on n1 and never on n1", 1, "needs n2 as well"],
      ],
      [{ ...base, objective: { kind: "cost", stageLimitSeconds: 0.4 } }, ["every stage within 0.4 s", 1, "needs 1 s"]],
    ];
    for (const [problem, expected] of cases) {
      const found = brief(conflictOf(problem))[0] ?? [];
      if (expected[0] === "small only as tp 4 x pp 1") expect(found[2]).toMatch(/would do$/);
      else expect([found[0], typeof found[1] === "number" ? Number(found[1].toPrecision(4)) : found[1], found[2]]).toEqual(expected);
    }
  });

  it("says how many GPUs must stay idle where none may", () => {
    const odd = { ...base, stages: base.stages.map((stage) => ({ ...stage, options: stage.options.filter(({ shape }) => shape.tp > 1) })) };
    const problem = constrained({ idleGpus: false }, { ...odd, nodes: [...odd.nodes, { name: "n3", gpu: "a", gpus: 1 }] });
    expect(brief(conflictOf(problem))).toEqual([["no idle GPU", 1, "at least 1 idle"]]);
  });

  it("names two that conflict, each with the value that would do alone, and leaves out those that do not", () => {
    const three = { ...base, nodes: [...base.nodes, { name: "n3", gpu: "a", gpus: 4 }] };
    const cases: readonly [DeploymentProblem, readonly (readonly (string | number | null)[])[]][] = [
      [
        constrained({ pinned: [{ model: "small", replicas: 5 }], maxGpus: 7, minReplicasPerModel: 2 }),
        [
          ["at least 5 of small", 4, "at most 4 can be had"],
          ["at most 7 GPUs", 8, "needs 8 GPUs"],
        ],
      ],
      [
        constrained({ pinned: [{ model: "small", replicas: 5 }], maxUsdPerHour: 15, maxGpus: 8 }),
        [
          ["at least 5 of small", 4, "at most 4 can be had"],
          ["at most 15 USD/hour", 16, "needs 16 USD/hour"],
        ],
      ],
      [
        constrained({ pinned: [{ model: "large", replicas: 3 }], shapes: [{ model: "large", tp: 4, pp: 1 }], maxGpus: 8 }),
        [
          ["at least 3 of large", 1, "at most 1 can be had"],
          ["large only as tp 4 x pp 1", null, "tp 1 x pp 1 would do"],
        ],
      ],
      [
        constrained({
          nodes: [
            { model: "small", only: ["n1"], never: [] },
            { model: "large", never: ["n2"] },
          ],
        }),
        [
          ["small only on n1", 1, "needs n2 as well"],
          ["large never on n2", 1, "needs n2 as well"],
        ],
      ],
      [
        constrained({ surviveNodeLoss: true, maxGpus: 9, minReplicasPerModel: 2 }, three),
        [
          ["survive the loss of any one node", 2, "needs 2 nodes more of 4 x a"],
          ["at most 9 GPUs", 11, "needs 11 GPUs"],
        ],
      ],
      [
        constrained({ idleGpus: false, maxGpus: 7 }),
        [
          ["at most 7 GPUs", 8, "needs 8 GPUs"],
          ["no idle GPU", 1, "at least 1 idle"],
        ],
      ],
    ];
    for (const [problem, expected] of cases) expect(brief(conflictOf(problem))).toEqual(expected);
  });

  it("is never more than what conflicts, whatever is asked together", () => {
    const some: fc.Arbitrary<Partial<PlanConstraints>> = fc.record({
      maxGpus: fc.constantFrom(null, 6, 7),
      maxUsdPerHour: fc.constantFrom(null, 13, 16),
      surviveNodeLoss: fc.boolean(),
      minReplicasPerModel: fc.constantFrom(null, 3, 4),
      idleGpus: fc.boolean(),
      shapes: fc.constantFrom<PlanConstraints["shapes"]>([], [{ model: "small", tp: 2, pp: 1 }]),
      nodes: fc.constantFrom<PlanConstraints["nodes"]>([], [{ model: "small", only: ["n1"], never: [] }]),
    });
    let sizes = 0;
    fc.assert(
      fc.property(some, (constraints) => {
        const three = { ...base, nodes: [...base.nodes, { name: "n3", gpu: "a", gpus: 3 }] };
        const problem = constrained(constraints, three);
        if (solveDeployment(problem, solving).outcome === "deployment") expect(explainInfeasible(problem, solving)).toBeNull();
        else sizes += conflictOf(problem).constraints.length;
      }),
      { numRuns: 25, seed: 1 },
    );
    expect(sizes).toBeGreaterThan(10);
  });

  it("says that the cluster is too small, and by how much, when no constraint is to blame", () => {
    const heavy = { ...base, stages: base.stages.map((stage) => ({ ...stage, requestsPerSecond: 3 * stage.requestsPerSecond })) };
    const conflict = conflictOf(constrained({ maxGpus: 8 }, heavy));
    expect(conflict.constraints).toEqual([]);
    expect(conflict.says).toBe("The cluster cannot serve the load, whatever constraint is given up: needs 4 nodes more of 4 x a.");
  });
});
