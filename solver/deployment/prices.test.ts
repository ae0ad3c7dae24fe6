import { describe, expect, it } from "vitest";
import { loadHighsEngine } from "@/server/planning/highsEngine";
import { sameOptimum } from "../milp/agreement";
import { deploymentPrices } from "./prices";
import type { DeploymentProblem, Solving } from "./problem";
import { solveDeployment } from "./solveDeployment";
import { testProblem } from "./testProblem";

const engine = await loadHighsEngine();
const solving: Solving = { engine, timeLimitSeconds: 60, nowSeconds: () => performance.now() / 1000 };

function leastSeconds(problem: DeploymentProblem): number {
  const found = solveDeployment(problem, solving);
  if (found.outcome !== "deployment") throw new Error(`expected a deployment, found it ${found.outcome}`);
  return found.latencySeconds;
}

const shapes = [
  { tp: 1, pp: 1 },
  { tp: 2, pp: 1 },
];

const nodes = [
  { gpu: "a", gpus: 4 },
  { gpu: "b", gpus: 2 },
];

describe("prices of a deployment", () => {
  it("are what solving anew with the hardware, or without the constraint, finds", () => {
    let lower = 0;
    for (const seed of [1, 2, 3, 4]) {
      const made = testProblem({ seed, models: 2, nodes, shapes, requestsPerSecondPerGpu: 1.2 });
      const problem = { ...made, constraints: { ...made.constraints, maxUsdPerHour: 12, nodes: [{ model: "model-0", never: ["node2"] }] } };
      const latencySeconds = leastSeconds(problem);
      const { gpus, binds } = deploymentPrices(problem, latencySeconds, solving);
      expect(gpus.map(({ gpu, nodeGpus }) => [gpu, nodeGpus])).toEqual([
        ["a", 4],
        ["b", 2],
      ]);
      for (const { gpu, nodeGpus, secondsWithGpu, secondsWithNode } of gpus) {
        const grown = (more: number) => leastSeconds({ ...problem, nodes: [...problem.nodes, { name: "new", gpu, gpus: more }] });
        expect(sameOptimum(secondsWithGpu ?? 0, grown(1))).toBe(true);
        expect(sameOptimum(secondsWithNode ?? 0, grown(nodeGpus))).toBe(true);
        expect(secondsWithNode).toBeLessThanOrEqual((secondsWithGpu ?? 0) * (1 + 1e-6));
        expect(secondsWithGpu).toBeLessThanOrEqual(latencySeconds);
      }
      const free = {
        maxUsdPerHour: leastSeconds({ ...problem, constraints: { ...problem.constraints, maxUsdPerHour: null } }),
        nodes: leastSeconds({ ...problem, constraints: { ...problem.constraints, nodes: [] } }),
      };
      for (const [kind, seconds] of Object.entries(free)) {
        const bind = binds.find((binding) => binding.kind === kind);
        expect(sameOptimum(bind?.secondsWithout ?? latencySeconds, seconds)).toBe(true);
      }
      lower += binds.length + gpus.filter(({ secondsWithGpu }) => (secondsWithGpu ?? 0) < latencySeconds).length;
    }
    expect(lower).toBeGreaterThan(2);
  });

  it("raise a cap on GPUs by the GPUs they add, so that a GPU more has its price where the cap binds", () => {
    const made = testProblem({ seed: 2, models: 2, nodes: [{ gpu: "a", gpus: 8 }], shapes, requestsPerSecondPerGpu: 0.6 });
    const problem = { ...made, constraints: { ...made.constraints, maxGpus: 5 } };
    const latencySeconds = leastSeconds(problem);
    const { gpus, binds } = deploymentPrices(problem, latencySeconds, solving);
    expect(gpus[0]?.secondsWithGpu).toBeLessThan(latencySeconds);
    expect(binds.map(({ says }) => says)).toEqual(["at most 5 GPUs"]);
  });
});
