import { expect, test } from "vitest";
import { pointsOf } from "./measuringService";

const run = {
  ...{ inputTokens: 16, outputTokens: 12, concurrency: 1, requests: 8, seconds: 1 },
  ...{ ttftSeconds: 0.02, tpotSeconds: null, endToEndSeconds: 0.1, p50Seconds: 0.1, p95Seconds: 0.12 },
};
const seen = { run, errors: { ttft: 0.01, tpot: null, endToEnd: 0.01 }, p95: 0.01 };
const unseen = { run, errors: { ttft: 0.3, tpot: null, endToEnd: 0.2 }, p95: 0.4 };

test("errors say whether their runs were kept aside or seen by the fit", () => {
  expect(pointsOf({ trained: [seen], keptAside: [unseen] })).toMatchObject({ errorsOf: "kept-aside", points: [{ errors: { p95: 0.4 } }] });
  expect(pointsOf({ trained: [seen], keptAside: [] })).toMatchObject({ errorsOf: "fit", points: [{ errors: { p95: 0.01 } }] });
});
