import fc from "fast-check";
import { expect, test } from "vitest";
import { simulatePrograms } from "../cluster/simulatePrograms";
import { arrivals } from "../engine/arrivals";
import type { ReplicaModel } from "../engine/replicaModel";
import { mean } from "../numeric/quantile";
import { buildPolicy } from "../policies/buildPolicy";
import { drawPrograms } from "../workflow/drawPrograms";
import type { ProgramSample } from "../workflow/programSample";
import { workflows } from "../workflow/templates";
import { generatedWorkload } from "../workload/generated";
import { capacityOf, engineFigures, type LabEngines, meanTokens } from "./engineFigures";

/** A decode step of 10 ms, and 1 ms more for each 1,000 cached tokens. */
const replica = (kvTokens: number, decodeSeconds = 0.01): ReplicaModel => ({
  stepTime: {
    decodeBaseSeconds: () => decodeSeconds,
    secondsPerKvToken: 1e-6,
    mixedStepSeconds: ({ tokens }) => decodeSeconds + tokens * 1e-5,
    provenance: [],
  },
  ...{ kvTokens, maxSequences: 64, maxBatchedTokens: 2048, requestSeconds: () => 0 },
});

const { outcomes } = generatedWorkload({ prompts: 60, seed: 1 });

/** Programs of two stages at Poisson arrivals. */
function programsAt(requestsPerSecond: number, programs: number): ProgramSample {
  const chain = workflows.find(({ name }) => name === "planner-coder");
  if (chain === undefined) throw new Error("no workflow planner-coder");
  return drawPrograms({
    ...{ outcomes, prompts: Int32Array.from(outcomes.promptIds.keys()), mix: [{ workflow: chain, share: 1 }], correlation: 1, seed: 1 },
    arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests: programs, requestsPerSecond, seed: 1 }),
  });
}

const typical = programsAt(1, 600);

/** Engines of the two smallest models, the second half as fast. */
const twoModels = (count: number, maxSequences: number): readonly LabEngines[] =>
  typical.models.slice(0, 2).map((model, at) => ({
    model,
    replicas: [{ replica: { ...replica(200_000, 0.01 * (at + 1)), maxSequences }, count }],
  }));

test("a batch fills the KV cache or the sequences, whichever ends first, and a token takes a step of the whole batch", () => {
  const tokens = { input: 100, output: 200 };
  const small = engineFigures({ model: "m", replicas: [{ replica: replica(2000), count: 1 }] }, tokens);
  expect(small).toEqual({
    ...{ engines: 1, maxBatchSize: 10 },
    ...{ decodeSecondsPerToken: 0.01 + 10 * 200 * 1e-6, unloadedSeconds: 200 * (0.01 + 200 * 1e-6) },
  });
  expect(engineFigures({ model: "m", replicas: [{ replica: replica(1e6), count: 1 }] }, tokens).maxBatchSize).toBe(64);
  const both = { model: "m", replicas: [2000, 4000].map((kvTokens) => ({ replica: replica(kvTokens), count: 1 })) };
  expect(engineFigures(both, tokens)).toMatchObject({ engines: 2, maxBatchSize: 15 });
});

test("a model's engines carry in proportion to their number, faster ones more than slow ones, and those without room nothing", () => {
  const [model = ""] = typical.models;
  const capacity = (count: number, seconds: number, kvTokens = 200_000) =>
    capacityOf([{ model, replicas: [{ replica: replica(kvTokens, seconds), count }] }], typical);
  fc.assert(
    fc.property(fc.constantFrom(4, 16, 64), fc.double({ min: 0.005, max: 0.05, noNaN: true }), (count, seconds) => {
      const one = capacity(1, seconds);
      expect(capacity(count, seconds) / (count * one)).toBeCloseTo(1, 6);
      expect(capacity(1, 2 * seconds)).toBeLessThan(one);
    }),
    { numRuns: 6 },
  );
  expect(meanTokens(typical, 0).output).toBeGreaterThan(1);
  expect(capacity(1, 0.01, 10)).toBe(0);
});

test("below the capacity balanced engines keep up however many they are, and a little above their queues grow to the end", () => {
  for (const [count, maxSequences, programs] of [
    [1, 16, 3000],
    [16, 4, 6000],
  ] as const) {
    const engines = twoModels(count, maxSequences);
    const capacity = capacityOf(engines, typical);
    const queueSeconds = (load: number) => {
      const { queueSeconds: seconds } = simulatePrograms({
        policy: buildPolicy({
          kind: "balanced",
          models: engines.map(({ model }) => ({ model, maxBatchSize: maxSequences })),
          order: { kind: "fcfs" },
          place: { kind: "least-load" },
        }),
        sample: programsAt(load * capacity, programs),
        replicas: engines.flatMap(({ model, replicas }) =>
          replicas.flatMap((shape) =>
            Array.from({ length: count }, (_, at) => ({ id: `${model} ${at}`, model, replica: shape.replica, maxInFlight: 2 ** 30 })),
          ),
        ),
      });
      const fifth = (at: number) => mean(seconds.slice((at * programs) / 5, ((at + 1) * programs) / 5));
      return { middle: fifth(2), last: fifth(4) };
    };
    const [below, above] = [queueSeconds(0.85), queueSeconds(1.15)];
    expect(below.last).toBeLessThan(0.1 * above.last);
    expect(above.last).toBeGreaterThan(1.5 * above.middle);
  }
});
