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

test("an engine has the pace of its fit, and a steady one without", () => {
  expect(measuredReplica({ ...engine, paceDeviation: 0.1 }).paceVariation).toEqual({ deviation: 0.1, seconds: 1 });
  expect(measuredReplica(engine).paceVariation).toBeUndefined();
});

test("errors of percentiles are those of the worst engine, its bias among them, and unknown where one engine has none", () => {
  const measured = (p95Errors: ReturnType<typeof errors> | null) =>
    ({ p95Errors }) as Parameters<typeof percentileErrors>[0]["engines"][number];
  expect(percentileErrors({ engines: [measured(errors(0)), measured(errors(-0.2, 0.3))] })?.p90Absolute).toBe(0.3);
  expect(percentileErrors({ engines: [measured(errors(0)), measured(null)] })).toBeNull();
});
