import fc from "fast-check";
import { expect, it } from "vitest";
import { gateEngines } from "./gateEngines";
import { instanceExplorer, randomInstance } from "./randomInstance";

const instance = randomInstance(3);
const { arrivalSeconds } = instance.workload;
const [replica] = instanceExplorer(instance).input.shapes[0] ?? [];

const engines = (inputTokens: number, outputTokens: number) => {
  if (replica === undefined) throw new Error("the instance's first model has no replica");
  return gateEngines(replica, { inputTokens: Int32Array.of(inputTokens), outputTokens: Int32Array.of(outputTokens) }, arrivalSeconds);
};

it("carries fewer readings, and takes longer for each, the more tokens a reading has", () => {
  fc.assert(
    fc.property(fc.integer({ min: 50, max: 800 }), fc.integer({ min: 8, max: 100 }), (input, output) => {
      const [one, two] = [engines(input, output), engines(2 * input, 2 * output)];
      expect(two.readingsPerGpuSecond).toBeLessThan(one.readingsPerGpuSecond);
      expect(two.seconds).toBeGreaterThan(one.seconds);
    }),
    { numRuns: 10 },
  );
});

it("refuses a reading that no replica can hold", () => {
  expect(() => engines(50_000_000, 10)).toThrow(RangeError);
});
