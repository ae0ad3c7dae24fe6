import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { solveDeployment } from "@/solver/deployment/solveDeployment";
import { testProblem } from "@/solver/deployment/testing/testProblem";
import { allocationModel } from "@/solver/milp/allocation";
import type { MilpEngine } from "@/solver/milp/engine";
import { seededRandom } from "@/solver/numeric/random";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { median } from "../lib/median";

const engines: readonly (readonly [string, () => Promise<MilpEngine>])[] = [
  ["HiGHS", loadHighsEngine],
  ["glpk.js", loadGlpkEngine],
];

/** Problems of one size, each with its own seed; the median is reported. */
const SEEDS = [1, 2, 3, 4, 5] as const;

const shapes = [1, 2, 4, 8].flatMap((tp) => [1, 2].map((pp) => ({ tp, pp })));

/** The min-max allocation of GPU counts (Cascadia, section 3.2) as a MILP, on tables that fall at every count. */
async function allocation(load: () => Promise<MilpEngine>, models: number, gpus: number): Promise<Measurement> {
  const engine = await load();
  const times = SEEDS.map((seed) => {
    const random = seededRandom(seed);
    const tables = Array.from({ length: models }, () => {
      const work = 20 + 40 * random.next();
      return Float64Array.from({ length: gpus }, (_, f) => 1 + (work * (1 + 0.001 * random.next())) / (f + 1));
    });
    const model = allocationModel({ tables, gpus, objective: { kind: "largest-stage" } });
    const startedMs = performance.now();
    const { status } = engine.solve(model, { timeLimitSeconds: 60, relativeGap: 0 });
    if (status !== "optimal") throw new Error(`the allocation ended ${status}`);
    return performance.now() - startedMs;
  });
  return { figure: median(times), unit: "ms", detail: `${engine.name}, ${models} models x ${gpus} GPUs, one column per model and count` };
}

async function deployment(
  load: () => Promise<MilpEngine>,
  asked: { models: number; nodes: number; surviveNodeLoss: boolean },
): Promise<Measurement> {
  const engine = await load();
  const nodes = Array.from({ length: asked.nodes }, () => ({ gpu: "a", gpus: 8 }));
  const solve = (seed: number) => {
    const problem = testProblem({ seed, models: asked.models, nodes, shapes, requestsPerSecondPerGpu: 0.7 });
    const constraints = { ...problem.constraints, surviveNodeLoss: asked.surviveNodeLoss };
    const startedMs = performance.now();
    const found = solveDeployment(
      { ...problem, constraints },
      { engine, timeLimitSeconds: 10, nowSeconds: () => performance.now() / 1000 },
    );
    if (found.outcome !== "deployment") throw new Error(`the deployment ended ${found.outcome}`);
    return { found, ms: performance.now() - startedMs };
  };
  // A planner's worker is warm; WebAssembly compiles on its first solves.
  if (!asked.surviveNodeLoss) solve(99);
  const runs = SEEDS.map(solve);
  const milps = median(runs.map(({ found }) => found.solver.milps));
  const proven = runs.filter(({ found }) => found.status === "optimal").length;
  const gap = Math.max(...runs.map(({ found }) => found.gap));
  return {
    figure: median(runs.map(({ ms }) => ms)),
    unit: "ms",
    detail: `${engine.name}, ${asked.models} models, 8 shapes each, ${milps} MILPs; ${proven} of ${runs.length} proven optimal within 10 s, largest gap ${(100 * gap).toPrecision(2)} %`,
  };
}

/** The MILPs of a plan on both engines: GPU counts alone, and replicas on named nodes from bisection to placement. */
export const deploymentBenchmarks: readonly Benchmark[] = engines.flatMap(([name, load]): Benchmark[] => [
  { name: `allocation MILP, 128 GPUs, ${name}`, budget: null, run: () => allocation(load, 3, 128) },
  { name: `allocation MILP, 1024 GPUs, ${name}`, budget: null, run: () => allocation(load, 5, 1024) },
  {
    name: `deployment on named nodes, 32 GPUs, ${name}`,
    budget: name === "glpk.js" ? atMost(150, "bisection needs more programs, or one of them branches for long") : null,
    run: () => deployment(load, { models: 3, nodes: 4, surviveNodeLoss: false }),
  },
  {
    name: `deployment on named nodes, 80 GPUs, ${name}`,
    budget: null,
    run: () => deployment(load, { models: 3, nodes: 10, surviveNodeLoss: false }),
  },
  {
    name: `deployment on named nodes, 1024 GPUs, ${name}`,
    budget: null,
    run: () => deployment(load, { models: 5, nodes: 128, surviveNodeLoss: false }),
  },
  {
    name: `deployment that survives a node, 32 GPUs, ${name}`,
    budget: null,
    run: () => deployment(load, { models: 3, nodes: 4, surviveNodeLoss: true }),
  },
  {
    name: `deployment that survives a node, 80 GPUs, ${name}`,
    budget: null,
    run: () => deployment(load, { models: 3, nodes: 10, surviveNodeLoss: true }),
  },
]);
