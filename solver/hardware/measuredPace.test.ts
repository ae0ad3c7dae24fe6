import { expect, test } from "vitest";
import { measuredReplica } from "./measuredEngine";
import { percentileErrors } from "./measuredProfile";

const limit = (value: number) => ({ value, origin: "reported" as const });
const errors = (bias: number, p90Absolute = 0.1) => ({ rows: 20, meanAbsolute: 0.05, p90Absolute, bias });
const engine = {
  step: {
    ...{ decode: [0, 32].map((at) => ({ at, seconds: 0.01 })), prefill: [0, 64].map((at) => ({ at, seconds: at / 1000 })) },
    ...{ secondsPerPrompt: 0, secondsPerKvToken: 0, secondsPerPair: 0 },
  },
  request: { seconds: 0, secondsPerInputToken: 0, secondsPerOutputToken: 0, delaySeconds: 0 },
  limits: { kvTokens: limit(10_000), maxSequences: limit(32), maxBatchedTokens: limit(2048), contextTokens: limit(2048) },
};
const means = { ttft: errors(0), tpot: errors(0), endToEnd: errors(0) };

test("a fit whose p95 is too low beside its mean gets a pace that varies by as much, any other a steady one", () => {
  const { paceVariation } = measuredReplica({ ...engine, errors: means, p95Errors: errors(-0.2) });
  expect(paceVariation?.deviation).toBeCloseTo(Math.log(1 / 0.8) / 1.645, 3);
  expect(measuredReplica({ ...engine, errors: means, p95Errors: errors(0.1) }).paceVariation).toBeUndefined();
  expect(measuredReplica({ ...engine, errors: null, p95Errors: null }).paceVariation).toBeUndefined();
});

test("errors of percentiles are those of the worst engine without its bias, and unknown where one engine has none", () => {
  const measured = (p95Errors: ReturnType<typeof errors> | null) =>
    ({ p95Errors }) as Parameters<typeof percentileErrors>[0]["engines"][number];
  expect(percentileErrors({ engines: [measured(errors(0)), measured(errors(-0.2, 0.3))] })?.p90Absolute).toBeCloseTo(0.1, 9);
  expect(percentileErrors({ engines: [measured(errors(0)), measured(null)] })).toBeNull();
});
