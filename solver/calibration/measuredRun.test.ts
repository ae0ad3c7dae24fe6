import { expect, test } from "vitest";
import { spreadLengths } from "./measuredRun";

test("lengths of a run lie within its spread, have its centre as their mean, and are the same at each call", () => {
  const run = { inputTokens: 200, outputTokens: 40, spread: 0.5 };
  const { inputTokens, outputTokens } = spreadLengths(run, 2000);
  expect([Math.min(...inputTokens), Math.max(...inputTokens)]).toEqual([100, 300]);
  expect([Math.min(...outputTokens), Math.max(...outputTokens)]).toEqual([20, 60]);
  expect(inputTokens.reduce((sum, one) => sum + one, 0) / 2000 / 200).toBeCloseTo(1, 1);
  expect(spreadLengths(run, 10).inputTokens).toEqual(inputTokens.slice(0, 10));
  expect(new Set(spreadLengths({ inputTokens: 200, outputTokens: 40 }, 10).inputTokens)).toEqual(new Set([200]));
});
