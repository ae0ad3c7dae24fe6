import type { LoadCurve } from "@/solver/engine/loadCurve";
import { seededRandom } from "@/solver/numeric/random";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import type { DeploymentProblem, DeploymentStage } from "../problem";

export interface TestProblemAsked {
  readonly seed: number;
  readonly models: number;
  readonly nodes: readonly { readonly gpu: string; readonly gpus: number }[];
  readonly shapes: readonly { readonly tp: number; readonly pp: number }[];
  /** Requests per second of every stage for each GPU of the cluster. */
  readonly requestsPerSecondPerGpu: number;
}

/** A curve that rises ever more steeply towards saturation, like those of simulated replicas. */
function testCurve(unloadedSeconds: number, saturation: number): LoadCurve {
  const loads = [0.05, 0.5, 0.75, 0.9];
  return {
    rates: Float64Array.from(loads, (load) => load * saturation),
    seconds: Float64Array.from(loads, (load) => unloadedSeconds * (1 + (0.3 * load) / (1 - load))),
    saturationRequestsPerSecond: saturation,
  };
}

/**
 * An artificial problem for tests and benchmarks: each model slower and larger than the previous one, larger shapes faster but less than in
 * proportion.
 */
export function testProblem({ seed, models, nodes, shapes, requestsPerSecondPerGpu }: TestProblemAsked): DeploymentProblem {
  const random = seededRandom(seed);
  const types = [...new Set(nodes.map(({ gpu }) => gpu))];
  const gpus = nodes.reduce((sum, node) => sum + node.gpus, 0);
  const speeds = new Map(types.map((gpu) => [gpu, 0.6 + 0.8 * random.next()]));
  const stages = Array.from({ length: models }, (_, index): DeploymentStage => {
    const seconds = 1.5 * 1.7 ** index * (0.8 + 0.4 * random.next());
    const rate = (9 / 1.8 ** index) * (0.8 + 0.4 * random.next());
    return {
      model: `model-${index}`,
      requestsPerSecond: requestsPerSecondPerGpu * gpus * (0.5 + random.next()) * 0.6 ** index,
      options: types.flatMap((gpu) =>
        shapes.map((shape) => {
          const speed = (speeds.get(gpu) ?? 1) * (0.95 + 0.1 * random.next());
          const faster = shape.tp ** 0.6 * speed;
          const more = shape.tp ** 0.85 * shape.pp ** 0.95 * speed;
          return { gpu, shape, curve: testCurve((seconds / faster) * shape.pp ** 0.1, rate * more) };
        }),
      ),
    };
  });
  return {
    stages,
    nodes: nodes.map((node, index) => ({ name: `node${index + 1}`, ...node })),
    usdPerGpuHour: Object.fromEntries(types.map((gpu, index) => [gpu, 2 + index])),
    running: [],
    constraints: planConstraintsSchema.parse({}),
    objective: { kind: "latency" },
  };
}
