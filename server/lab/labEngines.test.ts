import { expect, test } from "vitest";
import { engineFigures } from "@/solver/lab/engineFigures";
import { enginesByModel } from "./labEngines";
import { testHardware } from "./testing/testLab";

test("an engine holds as many sequences at once as it is said to, and vLLM's default where nothing is said", () => {
  const engine = { model: "llama-3.1-8b", gpu: "l40s", precision: "bf16", tp: 1, pp: 1, count: 1 } as const;
  const batchOf = (maxSequences?: number): number[] =>
    enginesByModel([maxSequences === undefined ? engine : { ...engine, maxSequences }], testHardware).map(
      (of) => engineFigures(of, { input: 300, output: 100 }).maxBatchSize,
    );
  expect(batchOf(32)).toEqual([32]);
  expect(batchOf()).toEqual([256]);
});
