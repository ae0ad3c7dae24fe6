import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { capacityTable, replicasFor } from "../cascade/tables/capacityTable";
import { minMaxAllocation } from "../milp/bisection";
import { type MilpEngine, sameOptimum } from "../milp/engine";
import type { PlanConstraints } from "../plan/constraints";
import type { DeploymentNode, DeploymentProblem, Solving } from "./problem";
import { type Deployment, solveDeployment } from "./solveDeployment";
import { leastSeconds } from "./stageLatency";
import { leastLatencyByTrying } from "./testing/bruteForce";
import { testProblem } from "./testing/testProblem";

const engines: readonly [string, () => Promise<MilpEngine>][] = [
  ["HiGHS", loadHighsEngine],
  ["glpk.js", loadGlpkEngine],
];

const solving = (engine: MilpEngine): Solving => ({ engine, timeLimitSeconds: 60, nowSeconds: () => performance.now() / 1000 });

const gpusOf = (problem: DeploymentProblem): number => problem.nodes.reduce((sum, { gpus }) => sum + gpus, 0);

function constrained(problem: DeploymentProblem, constraints: Partial<PlanConstraints>): DeploymentProblem {
  return { ...problem, constraints: { ...problem.constraints, ...constraints } };
}

/** Constraints that bind small problems occasionally, each absent most of the time. */
const someConstraints: fc.Arbitrary<Partial<PlanConstraints>> = fc.record({
  surviveNodeLoss: seldom(fc.constant(true), false),
  maxGpus: seldom(fc.integer({ min: 2, max: 5 }), null),
  maxUsdPerHour: seldom(fc.integer({ min: 5, max: 14 }), null),
  minReplicasPerModel: seldom(fc.integer({ min: 1, max: 2 }), null),
  maxChangedReplicas: seldom(fc.integer({ min: 0, max: 5 }), null),
  idleGpus: seldom(fc.constant(false), true),
  pinned: seldom<PlanConstraints["pinned"]>(fc.constant([{ model: "model-1", replicas: 2 }]), []),
  shapes: seldom<PlanConstraints["shapes"]>(fc.constant([{ model: "model-0", tp: 2, pp: 1 }]), []),
  nodes: seldom<PlanConstraints["nodes"]>(
    fc.constantFrom([{ model: "model-0", never: ["node1"] }], [{ model: "model-1", only: ["node1", "node2"], never: [] }]),
    [],
  ),
});

function seldom<T>(wanted: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: wanted });
}

const smallCluster = fc.constantFrom(
  [
    { gpu: "a", gpus: 2 },
    { gpu: "a", gpus: 2 },
    { gpu: "b", gpus: 1 },
  ],
  [
    { gpu: "a", gpus: 2 },
    { gpu: "b", gpus: 2 },
  ],
  [
    { gpu: "a", gpus: 1 },
    { gpu: "a", gpus: 3 },
  ],
);

const shapes = [
  { tp: 1, pp: 1 },
  { tp: 2, pp: 1 },
  { tp: 1, pp: 2 },
];

const running = [
  { model: "model-0", shape: { tp: 1, pp: 1 }, placements: [{ node: "node1", gpus: [0] }] },
  { model: "model-1", shape: { tp: 1, pp: 1 }, placements: [{ node: "node2", gpus: [0] }] },
];

const smallProblem = fc
  .tuple(
    smallCluster,
    fc.integer({ min: 1, max: 10_000 }),
    fc.double({ min: 0.3, max: 2.5, noNaN: true }),
    someConstraints,
    fc.constantFrom<readonly number[]>([1, 1], [3, 1], [1, 0.2]),
  )
  .map(([nodes, seed, requestsPerSecondPerGpu, constraints, weights]) => {
    const problem = testProblem({ seed, models: 2, nodes, shapes, requestsPerSecondPerGpu });
    const stages = problem.stages.map((stage, index) => ({ ...stage, latencyWeight: weights[index] ?? 1 }));
    return constrained({ ...problem, stages, running }, constraints);
  });

for (const [name, load] of engines) {
  describe(`deployment by ${name}`, () => {
    it("agrees with bisection over GPU counts to 1e-6 on one kind of GPU, one large node and no constraint", async () => {
      const engine = await load();
      const plain = fc.tuple(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 2, max: 16 }),
        fc.double({ min: 0.3, max: 2.5, noNaN: true }),
      );
      fc.assert(
        fc.property(plain, ([seed, models, gpus, requestsPerSecondPerGpu]) => {
          const problem = testProblem({ seed, models, nodes: [{ gpu: "a", gpus }], shapes, requestsPerSecondPerGpu });
          const tables = problem.stages.map(({ options, requestsPerSecond }) => {
            const curves = options.map(({ gpu, shape, curve }) => ({ gpu, shape, gpus: shape.tp * shape.pp, curve }));
            const table = capacityTable(curves, gpus);
            return Array.from(
              { length: gpus },
              (_, f) => replicasFor(table, requestsPerSecond, f + 1)?.seconds ?? Number.POSITIVE_INFINITY,
            );
          });
          const exact = minMaxAllocation(tables, gpus);
          const found = solveDeployment(problem, solving(engine));
          if (exact === null) {
            expect(found).toEqual({ outcome: "infeasible" });
            return;
          }
          if (found.outcome !== "deployment") throw new Error(`expected a deployment, found it ${found.outcome}`);
          expect(found.status).toBe("optimal");
          expect(sameOptimum(found.latencySeconds, exact.latencySeconds), `${found.latencySeconds} s and ${exact.latencySeconds} s`).toBe(
            true,
          );
          expect(found.gpus).toBeLessThanOrEqual(exact.gpus.reduce((sum, own) => sum + own, 0));
        }),
        { numRuns: 40, seed: 1 },
      );
    });

    it("finds the latency that trying every deployment finds, to 1e-6, with every kind of constraint", async () => {
      const engine = await load();
      let deployed = 0;
      fc.assert(
        fc.property(smallProblem, (problem) => {
          const least = leastLatencyByTrying(problem);
          const found = solveDeployment(problem, solving(engine));
          if (least === Number.POSITIVE_INFINITY) {
            expect(found).toEqual({ outcome: "infeasible" });
            return;
          }
          if (found.outcome !== "deployment") throw new Error(`expected a deployment of ${least} s, found it ${found.outcome}`);
          expect(found.status).toBe("optimal");
          expect(sameOptimum(found.latencySeconds, least), `${found.latencySeconds} s and ${least} s`).toBe(true);
          expectKept(problem, found);
          deployed += 1;
        }),
        { numRuns: 120, seed: 1 },
      );
      expect(deployed).toBeGreaterThan(40);
    });
  });
}

describe("deployments of a few nodes", () => {
  const nodes: readonly Pick<DeploymentNode, "gpu" | "gpus">[] = [
    { gpu: "a", gpus: 4 },
    { gpu: "a", gpus: 4 },
    { gpu: "b", gpus: 4 },
    { gpu: "b", gpus: 2 },
  ];
  const asked = fc.tuple(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0.2, max: 1.5, noNaN: true }), fc.boolean());

  it("keep every promise, whatever is asked, and come out the same again", async () => {
    const engine = await loadHighsEngine();
    let deployed = 0;
    fc.assert(
      fc.property(asked, ([seed, requestsPerSecondPerGpu, surviveNodeLoss]) => {
        const problem = constrained(
          testProblem({ seed, models: 3, nodes, shapes: [...shapes, { tp: 4, pp: 1 }], requestsPerSecondPerGpu }),
          {
            surviveNodeLoss,
            pinned: [{ model: "model-2", replicas: 2 }],
            nodes: [{ model: "model-0", never: ["node3"] }],
          },
        );
        const found = solveDeployment(problem, solving(engine));
        if (found.outcome !== "deployment") return;
        deployed += 1;
        expectKept(problem, found);
        const again = solveDeployment(problem, solving(engine));
        expect({ ...again, solver: null }).toEqual({ ...found, solver: null });
      }),
      { numRuns: 12, seed: 1 },
    );
    expect(deployed).toBeGreaterThan(4);
  });

  it("keep what runs where nothing is gained by a change", async () => {
    const engine = await loadHighsEngine();
    const problem = testProblem({ seed: 5, models: 3, nodes, shapes, requestsPerSecondPerGpu: 0.7 });
    const first = deployedBy(problem, engine);
    const running = first.stages.flatMap(({ model, replicas }) =>
      replicas.map(({ option, placements }) => ({ model, shape: option.shape, placements: placements.map((one) => ({ ...one })) })),
    );
    const second = deployedBy({ ...problem, running }, engine);
    expect(second).toMatchObject({ started: 0, stopped: 0 });
    expect(sameOptimum(second.latencySeconds, first.latencySeconds)).toBe(true);
    const kept = second.stages.flatMap(({ replicas }) => replicas.map((replica) => replica.placements));
    expect(new Set(kept.map((placements) => JSON.stringify(placements)))).toEqual(
      new Set(running.map(({ placements }) => JSON.stringify(placements))),
    );
  });

  it("cost the least within a latency, and no less within a shorter one", async () => {
    const engine = await loadHighsEngine();
    const problem = testProblem({ seed: 6, models: 2, nodes, shapes, requestsPerSecondPerGpu: 0.4 });
    const fastest = deployedBy(problem, engine);
    const costs = [1.001, 1.3, 2, 4].map((factor) => {
      const limit = factor * fastest.latencySeconds;
      const found = deployedBy({ ...problem, objective: { kind: "cost", stageLimitSeconds: limit } }, engine);
      expect(found.latencySeconds).toBeLessThanOrEqual(limit * (1 + 1e-6));
      expect(found.status).toBe("optimal");
      return found.usdPerHour;
    });
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
    expect(costs[3]).toBeLessThan(costs[0] ?? 0);
    const least = solveDeployment({ ...problem, objective: { kind: "cost", stageLimitSeconds: 1e-3 } }, solving(engine));
    expect(least).toEqual({ outcome: "infeasible" });
  });

  it("say that the time ran out when it did", async () => {
    const engine = await loadHighsEngine();
    const problem = testProblem({ seed: 6, models: 2, nodes, shapes, requestsPerSecondPerGpu: 0.4 });
    expect(solveDeployment(problem, { ...solving(engine), timeLimitSeconds: 0 })).toEqual({ outcome: "undecided" });
    let solves = 0;
    const impatient: Solving = {
      engine: {
        name: engine.name,
        solve: (model, limits) => {
          solves += 1;
          return engine.solve(model, limits);
        },
      },
      timeLimitSeconds: 1.5,
      nowSeconds: () => solves,
    };
    const found = solveDeployment(problem, impatient);
    if (found.outcome !== "deployment") throw new Error(`expected a deployment, found it ${found.outcome}`);
    expect(found.status).toBe("feasible");
    expect(found.bound).toBeLessThan(found.latencySeconds);
    expect(found.bound).toBeLessThanOrEqual(deployedBy(problem, engine).latencySeconds);
    expect(found.gap).toBeCloseTo((found.latencySeconds - found.bound) / found.latencySeconds, 12);
  });

  it("may load a replica to the very end of its curve", async () => {
    const engine = await loadHighsEngine();
    const { stages, ...rest } = testProblem({ seed: 6, models: 1, nodes: [{ gpu: "a", gpus: 4 }], shapes, requestsPerSecondPerGpu: 1 });
    const [stage] = stages;
    if (stage === undefined) throw new Error("no stage");
    const options = stage.options.map((option) => ({
      ...option,
      curve: { ...option.curve, rates: option.curve.rates.map((rate) => (rate / (option.curve.rates[3] ?? 1)) * option.shape.tp * 2.1) },
    }));
    const problem = { ...rest, stages: [{ ...stage, options, requestsPerSecond: 4.2 }] };
    const ends = options.filter(({ shape }) => shape.pp === 1).map(({ curve }) => curve.seconds[3] ?? 0);
    const found = deployedBy(constrained(problem, { maxGpus: 2 }), engine);
    expect(found).toMatchObject({ status: "optimal", gpus: 2 });
    expect(found.latencySeconds).toBeCloseTo(Math.min(...ends), 9);
  });

  it("are refused in a sentence when the problem is malformed", async () => {
    const engine = await loadHighsEngine();
    const problem = testProblem({ seed: 6, models: 2, nodes, shapes, requestsPerSecondPerGpu: 0.4 });
    const unknown = constrained(problem, { nodes: [{ model: "model-0", never: ["node9"] }] });
    expect(() => solveDeployment(unknown, solving(engine))).toThrow("A constraint names node node9, which the cluster does not have.");
    expect(() => solveDeployment({ ...problem, usdPerGpuHour: { a: 1 } }, solving(engine))).toThrow("There is no price for GPU type b.");
  });
});

function deployedBy(problem: DeploymentProblem, engine: MilpEngine): Deployment {
  const found = solveDeployment(problem, solving(engine));
  if (found.outcome !== "deployment") throw new Error(`expected a deployment, found it ${found.outcome}`);
  return found;
}

/** The guarantees of every deployment, checked on its named nodes and GPUs. */
function expectKept(problem: DeploymentProblem, { stages, latencySeconds, usdPerHour, gpus, started, stopped }: Deployment): void {
  const taken = new Set<string>();
  for (const [index, { model, replicas, seconds, secondsAfterLoss }] of stages.entries()) {
    const stage = problem.stages[index];
    if (stage === undefined) throw new Error("a stage more than asked for");
    const loadOf = (own: typeof replicas) =>
      leastSeconds(
        own.map(({ option }) => ({ curve: option.curve, count: 1 })),
        stage.requestsPerSecond,
      );
    expect(loadOf(replicas)).toBeCloseTo(seconds, 9);
    const { latencyWeight = 1 } = stage;
    expect(latencyWeight * Math.max(seconds, secondsAfterLoss)).toBeLessThanOrEqual(latencySeconds);
    for (const { name } of problem.constraints.surviveNodeLoss ? problem.nodes : [])
      expect(
        latencyWeight * loadOf(replicas.filter(({ placements }) => placements.every(({ node }) => node !== name))),
      ).toBeLessThanOrEqual(latencySeconds + 1e-9);
    if (replicas.length > 0) expect(replicas.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(replicas.length).toBeGreaterThanOrEqual(problem.constraints.minReplicasPerModel ?? 0);
    for (const { option, placements } of replicas) {
      expect(placements.reduce((sum, place) => sum + place.gpus.length, 0)).toBe(option.shape.tp * option.shape.pp);
      for (const { node, gpus: own } of placements) {
        const on = problem.nodes.find(({ name }) => name === node);
        expect(on?.gpu).toBe(option.gpu);
        expect(own.length % option.shape.tp).toBe(0);
        for (const rule of problem.constraints.nodes.filter((rule) => rule.model === model)) {
          expect(rule.never).not.toContain(node);
          if (rule.only !== undefined) expect(rule.only).toContain(node);
        }
        for (const gpu of own) {
          expect(gpu).toBeLessThan(on?.gpus ?? 0);
          expect(taken.has(`${node}/${gpu}`)).toBe(false);
          taken.add(`${node}/${gpu}`);
        }
      }
    }
  }
  const { pinned, shapes: wanted, excluded, maxGpus, maxUsdPerHour, maxChangedReplicas, idleGpus } = problem.constraints;
  const of = (model: string) => stages.find((stage) => stage.model === model)?.replicas ?? [];
  for (const { model, replicas } of pinned) expect(of(model).length).toBeGreaterThanOrEqual(replicas);
  for (const { model, tp, pp } of wanted) for (const { option } of of(model)) expect(option.shape).toEqual({ tp, pp });
  for (const model of excluded) expect(of(model)).toEqual([]);
  expect(taken.size).toBe(gpus);
  if (maxGpus !== null) expect(gpus).toBeLessThanOrEqual(maxGpus);
  if (maxUsdPerHour !== null) expect(usdPerHour).toBeLessThanOrEqual(maxUsdPerHour + 1e-9);
  if (maxChangedReplicas !== null) expect(started + stopped).toBeLessThanOrEqual(maxChangedReplicas);
  if (!idleGpus) expect(gpus).toBe(gpusOf(problem));
}
