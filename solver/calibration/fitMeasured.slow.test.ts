import { expect, test } from "vitest";
import { tpotSeconds } from "../engine/outcomeSummary";
import type { ReplicaModel } from "../engine/replicaModel";
import { simulateClosedLoop } from "../engine/simulateClosedLoop";
import { measuredReplica } from "../hardware/measuredEngine";
import { mean, quantile } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";
import { fitMeasured } from "./fitMeasured";
import type { MeasuredRun, RunPoint } from "./measuredRun";
import { errorsOf, simulateRun } from "./simulatedRun";

/** An engine whose step time has another form than the fit's: concave in sequences and in prompt tokens, with a kink. */
const truth: ReplicaModel = {
  stepTime: {
    decodeBaseSeconds: (sequences) => 4e-3 + 1.2e-3 * sequences ** 0.8,
    secondsPerKvToken: 4e-7,
    mixedStepSeconds: ({ tokens, prefillTokens, prefillPairs, kvTokensRead }) =>
      4e-3 + 1.2e-3 * (tokens - prefillTokens) ** 0.8 + Math.max(2e-3, 1.5e-4 * prefillTokens) + 2e-8 * prefillPairs + 4e-7 * kvTokensRead,
    provenance: [],
  },
  kvTokens: 60_000,
  maxSequences: 32,
  maxBatchedTokens: 2048,
  requestSeconds: (inputTokens) => 2e-3 + 2e-6 * inputTokens,
  tokenSeconds: 1e-4,
  delaySeconds: 3e-3,
};

const limits = {
  kvTokens: { value: 60_000, origin: "reported" },
  maxSequences: { value: 32, origin: "observed" },
  maxBatchedTokens: { value: 2048, origin: "reported" },
  contextTokens: { value: 2048, origin: "reported" },
} as const;

const options = {
  model: "m",
  gpu: "g",
  shape: { tp: 1, pp: 1 },
  limits,
  noise: null,
  asOf: "2026-11-28",
  source: "a test",
  emulated: false,
};

/** A run of the true engine as a client with noise measures it. */
function measured(point: RunPoint, noise: () => number, engine = truth): MeasuredRun {
  const requests = Math.max(8, 3 * point.concurrency);
  const lengths = {
    inputTokens: new Int32Array(requests).fill(point.inputTokens),
    outputTokens: new Int32Array(requests).fill(point.outputTokens),
  };
  const outcome = simulateClosedLoop(engine, lengths, { concurrency: point.concurrency });
  return {
    ...point,
    requests,
    seconds: outcome.horizonSeconds,
    ttftSeconds: mean(outcome.ttftSeconds) * noise(),
    tpotSeconds: mean(tpotSeconds(outcome)) * noise(),
    endToEndSeconds: mean(outcome.endToEndSeconds) * noise(),
    p50Seconds: quantile(outcome.endToEndSeconds, 0.5),
    p95Seconds: quantile(outcome.endToEndSeconds, 0.95) * noise(),
  };
}

const lengths = [
  [16, 64],
  [64, 24],
  [256, 48],
  [700, 16],
  [128, 128],
] as const;
const points = lengths.flatMap(([inputTokens, outputTokens]) =>
  [1, 4, 16, 48].map((concurrency) => ({ inputTokens, outputTokens, concurrency })),
);

const relative = (predicted: number, true_: number): number => Math.abs(predicted / true_ - 1);

test("an engine of another form, measured with 4 % of noise, is predicted at lengths and loads that no run had", () => {
  const random = seededRandom(11);
  const noise = (): number => 1 + 0.04 * (2 * random.next() - 1);
  const fit = fitMeasured(
    points.map((point) => measured(point, noise)),
    options,
  );
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  for (const point of [
    { inputTokens: 100, outputTokens: 40, concurrency: 8 },
    { inputTokens: 400, outputTokens: 60, concurrency: 2 },
    { inputTokens: 40, outputTokens: 90, concurrency: 24 },
  ]) {
    const exact = measured(point, () => 1);
    const found = simulateRun(exact, fit.engine, limits);
    const at = JSON.stringify(point);
    expect(relative(found.endToEndSeconds, exact.endToEndSeconds), `end to end, ${at}`).toBeLessThan(0.08);
    expect(relative(found.tpotSeconds, exact.tpotSeconds ?? 0), `TPOT, ${at}`).toBeLessThan(0.08);
    expect(relative(found.ttftSeconds, exact.ttftSeconds), `TTFT, ${at}`).toBeLessThan(0.15);
  }
  expect(fit.keptAside).toHaveLength(points.length);
  expect(fit.engine.errors?.endToEnd.meanAbsolute).toBeLessThan(0.1);
}, 120_000);

test("one wrong run moves the predictions of the others by little", () => {
  const right = points.map((point) => measured(point, () => 1));
  const wrong = right.map((run, index) =>
    index === 6 ? { ...run, ttftSeconds: 5 * run.ttftSeconds, endToEndSeconds: 3 * run.endToEndSeconds } : run,
  );
  const fit = fitMeasured(wrong, options);
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  const errors = right.flatMap((run, index) =>
    index === 6 ? [] : [relative(simulateRun(run, fit.engine, limits).endToEndSeconds, run.endToEndSeconds)],
  );
  expect(mean(errors)).toBeLessThan(0.06);
}, 120_000);

test("the token budget of a step is found where the engine does not report it", () => {
  const small: ReplicaModel = { ...truth, maxBatchedTokens: 512 };
  const runs = points.map((point) => measured(point, () => 1, small));
  const fit = fitMeasured(runs, { ...options, limits: { ...limits, maxBatchedTokens: { value: 2048, origin: "assumed" } } });
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  expect(fit.engine.limits.maxBatchedTokens).toEqual({ value: 512, origin: "observed" });
}, 120_000);

test("a run kept aside is predicted as a fit predicts it that never saw its lengths, token budget and pace among it", () => {
  const tail = 1.2;
  const small: ReplicaModel = { ...truth, maxBatchedTokens: 512 };
  const isAside = ({ inputTokens }: RunPoint): boolean => inputTokens === 700;
  const runs = points
    .filter(({ inputTokens, concurrency }) => [16, 64, 700].includes(inputTokens) && concurrency !== 4)
    .map((point) => {
      const exact = measured(point, () => 1, small);
      return { ...exact, p95Seconds: tail * exact.p95Seconds };
    });
  const assumed = { ...options, limits: { ...limits, maxBatchedTokens: { value: 2048, origin: "assumed" as const } } };
  const fit = fitMeasured(runs, assumed);
  const others = fitMeasured(
    runs.filter((run) => !isAside(run)),
    assumed,
  );
  if (fit.outcome !== "fitted" || others.outcome !== "fitted") throw new Error("no fit");
  const aside = fit.keptAside.filter(({ run }) => isAside(run));
  expect(aside).toHaveLength(3);
  expect(aside).toEqual(aside.map(({ run }) => errorsOf(run, others.engine)));
  expect(fit.engine.paceDeviation).toBeGreaterThan(0);
}, 120_000);

test("with both starts the fit finds that prompts cost two decode steps and hardly wait; with the first alone it does not", () => {
  const known = { ...limits, maxSequences: { value: 8, origin: "observed" } } as const;
  const step = {
    decode: [0, 1, 2, 4, 8].map((sequences) => ({ at: sequences, seconds: 4e-3 + 1e-3 * sequences })),
    prefill: [
      { at: 0, seconds: 0 },
      { at: 16, seconds: 1e-3 },
      { at: 256, seconds: 1e-2 },
      { at: 1024, seconds: 4e-2 },
    ],
    ...{ secondsPerPrompt: 8e-3, secondsPerKvToken: 2e-7, secondsPerPair: 1e-9 },
  };
  const request = { seconds: 1e-3, secondsPerInputToken: 1e-6, secondsPerOutputToken: 5e-5, delaySeconds: 2e-5 };
  const heavy = measuredReplica({ step, request, limits: known });
  const exactly = (point: RunPoint) => measured(point, () => 1, heavy);
  const runs = (
    [
      [16, 32],
      [128, 8],
      [700, 16],
    ] as const
  ).flatMap(([inputTokens, outputTokens]) => [1, 4, 8].map((concurrency) => exactly({ inputTokens, outputTokens, concurrency })));
  const fit = fitMeasured(runs, { ...options, limits: known });
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  // The first start ends with less than a tenth of the cost, and with first tokens at loads between those measured in half their time.
  expect(relative(fit.engine.step.secondsPerPrompt, step.secondsPerPrompt)).toBeLessThan(0.25);
  for (const point of [
    { inputTokens: 100, outputTokens: 40, concurrency: 6 },
    { inputTokens: 40, outputTokens: 90, concurrency: 8 },
  ]) {
    const exact = exactly(point);
    expect(relative(simulateRun(exact, fit.engine, known).ttftSeconds, exact.ttftSeconds), JSON.stringify(point)).toBeLessThan(0.15);
  }
}, 120_000);

test("fewer than five different runs are refused with their number", () => {
  const [one] = points.map((point) => measured(point, () => 1));
  if (one === undefined) throw new Error("no run");
  expect(fitMeasured([one, one, one], options)).toEqual({ outcome: "refused", reason: "A fit needs 5 different runs, found 1." });
});
