import { expect, test } from "vitest";
import { fitTable } from "./fitFigures";

const of = (meanAbsolute: number) => ({ meanAbsolute, p90Absolute: 2 * meanAbsolute });

test("a fit's row has its cost, and each error on runs kept aside beside the noise of repeats", () => {
  const engine = {
    errors: { ttft: of(0.12), tpot: of(0.2), endToEnd: of(0.08) },
    p95Errors: of(0.1),
    noise: { repeats: 3, ttft: 0.05, tpot: 0.04, endToEnd: 0.03, p95: 0.02 },
  };
  const report = { runs: [{}, {}], used: { seconds: 240, tokens: 121_363 }, profile: { engines: [engine] } };
  expect(fitTable([{ key: "llama arith-large", minutes: 4.25, report }]).split("\n")[2]).toBe(
    "| llama arith-large | 4.3 | 121,363 | 2 | 12.0 %, 24.0 % (5.0 %) | 20.0 %, 40.0 % (4.0 %) | 8.0 %, 16.0 % (3.0 %) | 10.0 %, 20.0 % (2.0 %) |",
  );
  const none = { ...report, profile: { engines: [{ errors: null, p95Errors: null, noise: null }] } };
  expect(fitTable([{ key: "x", minutes: 1, report: none }]).split("\n")[2]).toBe("| x | 1.0 | 121,363 | 2 | - | - | - | - |");
});

test("a report that was cut off has no row", () => {
  expect(
    fitTable([{ key: "x", minutes: 1, report: "half a repo" }])
      .trim()
      .split("\n"),
  ).toHaveLength(2);
});
