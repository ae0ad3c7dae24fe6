import { expect, test } from "vitest";
import { engineFigures } from "@/solver/lab/engineFigures";
import { TYPICAL_PROGRAMS } from "./labCells";
import { clusterReplicas, enginesByModel } from "./labEngines";
import { planningPrograms, tableOf } from "./labPrograms";
import { testHardware, testSpec, testWorkload } from "./testing/testLab";

test("an engine holds as many sequences at once as it is said to, and vLLM's default where nothing is said", () => {
  const engine = { model: "llama-3.1-8b", gpu: "l40s", precision: "bf16", tp: 1, pp: 1, count: 1 } as const;
  const batchOf = (maxSequences?: number): number[] =>
    enginesByModel([maxSequences === undefined ? engine : { ...engine, maxSequences }], testHardware).map(
      (of) => engineFigures(of, { input: 300, output: 100 }).maxBatchSize,
    );
  expect(batchOf(32)).toEqual([32]);
  expect(batchOf()).toEqual([256]);
});

test("engines take running requests out for an order that preempts, by steps of a full batch, and only where they queue themselves", () => {
  const spec = testSpec(["vLLM balancing"]);
  const engines = enginesByModel(spec.replicas, testHardware);
  const models = engines.map(({ model }) => model);
  const sample = planningPrograms(spec, testWorkload, tableOf(testWorkload, models), TYPICAL_PROGRAMS);
  const order = { kind: "mlfq" as const, quantaSeconds: [1, 4], agingThreshold: 9 };
  const feedbacks = (queue: "engines" | "centre", preempts: boolean) =>
    clusterReplicas(engines, { queue, aging: null }, sample, { ...order, ...(preempts && { preempts: true as const }) }).map(
      ({ replica }) => replica.feedback,
    );
  for (const feedback of feedbacks("engines", true)) {
    const [first = 0, second = 0] = feedback?.quantaSteps ?? [];
    // A step of a full batch takes some hundredths of a second.
    expect(first).toBeGreaterThan(10);
    expect(first).toBeLessThan(200);
    expect(Math.abs(second - 4 * first)).toBeLessThanOrEqual(3);
  }
  expect([...feedbacks("engines", false), ...feedbacks("centre", true)].every((feedback) => feedback === undefined)).toBe(true);
});
