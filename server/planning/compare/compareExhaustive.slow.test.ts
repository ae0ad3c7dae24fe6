import { expect, test } from "vitest";
import { exhaustiveSearch, tableSeconds } from "@/solver/baselines/exhaustive";
import { instanceExplorer, randomInstance } from "@/solver/baselines/randomInstance";
import { loadGlpkEngine } from "../planner/glpkEngine";
import { holdAgainstExhaustive } from "./compareExhaustive";

/** Instances of two models, for which exhaustive search takes seconds; the benchmark uses thirty, with three models too. */
const SEEDS = [6, 10, 13];

for (const latency of ["end-to-end", "largest-stage"] as const) {
  test(`the ${latency} plan is within 1 % of exhaustive search on small instances`, async () => {
    const engine = await loadGlpkEngine();
    for (const seed of SEEDS) {
      const held = holdAgainstExhaustive(randomInstance(seed), latency, { engine, nowSeconds: () => 0 });
      if (held === null) throw new Error(`instance ${seed} has no plan`);
      expect(held.plannedSeconds, `instance ${seed}: ${held.planned}, best ${held.best}`).toBeLessThanOrEqual(1.01 * held.bestSeconds);
      expect(held.plannedSeconds).toBeGreaterThanOrEqual(held.bestSeconds * (1 - 1e-9));
    }
  });
}

test("no neighbouring thresholds or replicas beat the plan that exhaustive search finds, by the same tables", () => {
  const instance = randomInstance(1);
  const explorer = instanceExplorer(instance);
  const best = exhaustiveSearch({ explorer, floor: instance.floor, latency: "largest-stage" });
  if (best === null) throw new Error("exhaustive search found no plan");
  expect(tableSeconds(explorer, best, "largest-stage")).toBeCloseTo(best.seconds, 9);
  const neighbours = best.thresholds.flatMap((_, stage) =>
    [-10, 10].map((step) => best.thresholds.with(stage, best.thresholds[stage]! + step)),
  );
  for (const thresholds of neighbours) {
    if (explorer.outlook(best.stages, thresholds).qualityLow < instance.floor) continue;
    expect(tableSeconds(explorer, { ...best, thresholds }, "largest-stage")).toBeGreaterThanOrEqual(best.seconds);
  }
  const fewer = best.replicas.map((own) => own.flatMap((group, at) => (at === 0 ? { ...group, count: group.count - 1 } : group)));
  expect(tableSeconds(explorer, { ...best, replicas: fewer }, "largest-stage")).toBeGreaterThanOrEqual(best.seconds);
});
