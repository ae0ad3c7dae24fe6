import fc from "fast-check";
import { expect, it } from "vitest";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import { outputLengths } from "./outputLengths";
import {
  type FittedSessionCost,
  fittedSessionCost,
  levelledSessionCost,
  simulatedSessionCost,
  simulatedSessionSeconds,
} from "./sessionCost";
import type { SessionRow } from "./sessionRow";

function engineOf(model: string) {
  const fit = replicaModel(modelCards[model]!, gpuCards["a100-sxm-80g"]!, { tp: 1, pp: 1 });
  if (!fit.fits) throw new Error(fit.reason);
  return fit.replica;
}

/** Lengths with a mean and a spread of their logarithms, to prompts of 300 tokens. */
function requestsOf(meanTokens: number, spread: number, seed = 5) {
  const random = seededRandom(seed);
  const outputTokens = Int32Array.from({ length: 1000 }, () =>
    Math.max(1, Math.min(16_000, random.lognormal(Math.log(meanTokens) - spread ** 2 / 2, spread))),
  );
  return { inputTokens: new Int32Array(1000).fill(300), outputTokens, seed: 7 };
}

const row = (prompts: number, seconds: number, lengths = outputLengths(requestsOf(400, 0.8))): SessionRow => ({
  ...{ model: "qwen2.5-7b", gpu: "a100-sxm-80g", tp: 1, prompts, seconds, loadSeconds: 40, concurrency: null, origin: "measured" },
  ...{ meanOutputTokens: lengths.meanTokens, maxOutputTokens: Math.round(lengths.expectedLongest(prompts)) },
});

function fittedTo(...asked: Parameters<typeof fittedSessionCost>): FittedSessionCost {
  const fit = fittedSessionCost(...asked);
  if (!fit.ok) throw new Error(fit.reason);
  return fit.fitted;
}

const reasonOf = (...asked: Parameters<typeof fittedSessionCost>): string => {
  const fit = fittedSessionCost(...asked);
  return fit.ok ? "fitted" : fit.reason;
};

it("finds the coefficients again that noisy sessions are made of, and says how far predictions are off", () => {
  const lengths = outputLengths(requestsOf(400, 0.8));
  fc.assert(
    fc.property(
      fc.record({
        fixed: fc.double({ min: 0.5, max: 5, noNaN: true }),
        tail: fc.double({ min: 0.005, max: 0.03, noNaN: true }),
        token: fc.double({ min: 1e-4, max: 1e-3, noNaN: true }),
        seed: fc.integer({ min: 0, max: 1e6 }),
      }),
      ({ fixed, tail, token, seed }) => {
        const random = seededRandom(seed);
        const exact = (prompts: number): number => fixed + tail * lengths.expectedLongest(prompts) + token * prompts * lengths.meanTokens;
        const rows = [1, 8, 32, 100, 300, 900, 2000].map((prompts) => row(prompts, exact(prompts) * (1 + 0.01 * random.normal()), lengths));
        const fitted = fittedTo(rows, lengths, 2000);
        expect(fitted.sessions).toBe(7);
        expect(fitted.heldOutError).toBeLessThan(0.2);
        for (const prompts of [16, 64, 500, 1500]) expect(fitted.cost(prompts) / exact(prompts)).toBeCloseTo(1, 0.7);
        expect(Math.min(fitted.fixedSeconds, fitted.secondsPerLongestToken, fitted.secondsPerToken)).toBeGreaterThanOrEqual(0);
        const costs = Array.from({ length: 200 }, (_, at) => fitted.cost(11 * at));
        expect(costs).toEqual(costs.toSorted((a, b) => a - b));
        expect(costs[0]).toBe(0);
      },
    ),
    { numRuns: 40 },
  );
});

it("fits nothing to sessions of fewer than three different counts, however many there are", () => {
  const lengths = outputLengths(requestsOf(400, 0.8));
  const rows = [1, 1, 1, 64, 64, 64].map((prompts) => row(prompts, 2 + prompts));
  expect(reasonOf(rows, lengths, 64)).toContain("2 different counts of prompts, and a fit takes 3");
  expect(reasonOf([], lengths, 64)).toContain("0 different counts");
  expect(reasonOf([...rows, row(200, 150)], lengths, 400)).toBe("fitted");
});

it("fits nothing beyond twice the largest session, to sessions that tell little of one another, nor where answers would take no time", () => {
  const lengths = outputLengths(requestsOf(400, 0.8));
  const rows = [20, 40, 60].map((prompts) => row(prompts, 5 + 0.2 * prompts));
  expect(reasonOf(rows, lengths, 120)).toBe("fitted");
  expect(reasonOf(rows, lengths, 121)).toBe("a fit to sessions of at most 60 prompts says nothing of 121");
  const falling = [row(10, 30), row(20, 20), row(40, 10)];
  expect(reasonOf(falling, lengths, 40)).toMatch(/predicts each only within \d+ % by the others/);
  expect(
    reasonOf(
      [10, 20, 40].map((prompts) => row(prompts, 10)),
      lengths,
      40,
    ),
  ).toContain("no more time");
});

it("is within a quarter of what sessions of any size take, whatever the sizes of those that were measured", () => {
  const requests = requestsOf(200, 1);
  const lengths = outputLengths(requests);
  const mostPrompts = 4000;
  const simulated = simulatedSessionCost(engineOf("qwen2.5-7b"), requests, { mostPrompts, concurrency: null });
  // Engines that are slower than the simulator's by a constant factor.
  const truth = (prompts: number): number => 1.3 * simulated(prompts);
  const measured = [
    [5, 8, 12],
    [20, 40, 60],
    [20, 40, 60, 100, 150],
    [300, 1000, 3000],
  ];
  for (const counts of measured) {
    const rows = counts.map((prompts) => row(prompts, truth(prompts), lengths));
    for (const prompts of [100, 1000, 4000]) {
      const fit = fittedSessionCost(rows, lengths, prompts);
      expect(fit.ok).toBe(prompts <= 2 * counts.at(-1)!);
      const cost = fit.ok ? fit.fitted.cost : levelledSessionCost(simulated, rows, lengths.meanTokens)!.cost;
      expect(Math.abs(cost(prompts) / truth(prompts) - 1)).toBeLessThan(0.25);
    }
  }
});

it("takes the level of measured sessions by the median, for each token of their answers, and none where none is usable", () => {
  const simulated = (prompts: number): number => 10 + prompts;
  const of = (prompts: number, seconds: number, meanOutputTokens: number): SessionRow => ({ ...row(prompts, seconds), meanOutputTokens });
  const rows = [of(10, 40, 200), of(30, 80, 200), of(90, 9000, 200), of(40, 50, 100), of(0, 0, 0)];
  const levelled = levelledSessionCost(simulated, rows, 200)!;
  expect(levelled).toMatchObject({ level: 2, sessions: 4 });
  expect(levelled.cost(490)).toBe(1000);
  expect(levelledSessionCost(simulated, [of(0, 0, 0)], 200)).toBeNull();
});

it("predicts simulated sessions that a fit has not seen within a fifth, from seven that it has", () => {
  const requests = requestsOf(400, 0.8);
  const lengths = outputLengths(requests);
  const simulated = simulatedSessionCost(engineOf("qwen2.5-7b"), requests, { mostPrompts: 2000, concurrency: null });
  const fitted = fittedTo(
    [1, 8, 32, 100, 300, 900, 2000].map((prompts) => row(prompts, simulated(prompts), lengths)),
    lengths,
    2000,
  );
  for (const prompts of [50, 200, 600, 1400]) expect(Math.abs(fitted.cost(prompts) / simulated(prompts) - 1)).toBeLessThan(0.2);
});

it("never takes less time for more prompts, nor more time a prompt than one alone", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("qwen2.5-7b", "gemma-2-9b", "llama-3.1-8b"),
      fc.double({ min: 0.2, max: 1.2, noNaN: true }),
      fc.integer({ min: 1, max: 700 }),
      fc.constantFrom(null, 1, 16),
      (model, spread, mostPrompts, concurrency) => {
        const cost = simulatedSessionCost(engineOf(model), requestsOf(150, spread), { mostPrompts, concurrency });
        expect(cost(0)).toBe(0);
        const costs = Array.from({ length: 60 }, (_, at) => cost(1 + 20 * at));
        expect(costs).toEqual(costs.toSorted((a, b) => a - b));
        // Whatever the draws, full engines give each prompt no more time than it would have alone.
        for (const [at, seconds] of costs.entries()) expect(seconds / (1 + 20 * at)).toBeLessThanOrEqual(costs[0]! * 1.5);
      },
    ),
    { numRuns: 12 },
  );
});

it("times sessions beyond what is simulated along a straight line, and the largest alone alike", () => {
  const requests = requestsOf(150, 0.8);
  const session = { mostPrompts: 1_000_000, concurrency: null };
  const cost = simulatedSessionCost(engineOf("qwen2.5-7b"), requests, session);
  expect(cost(8192) - cost(4096)).toBeCloseTo(2 * (cost(4096) - cost(2048)), 6);
  expect(cost(1_000_000) / simulatedSessionSeconds(engineOf("qwen2.5-7b"), requests, session)).toBeCloseTo(1, 9);
});

it("has the throughput of small shards collapse where answers are short, and hardly where they are long, as in appendix A.6", () => {
  const lostByQuarter = (model: string, prompts: number, requests: ReturnType<typeof requestsOf>): number => {
    const cost = simulatedSessionCost(engineOf(model), requests, { mostPrompts: prompts, concurrency: null });
    return 1 - cost(prompts) / 4 / cost(prompts / 4);
  };
  // Prompts of the source's MMLU-Pro instance, four ways; spreads within the source's range of lengths.
  const short = [
    ["qwen2.5-7b", 956],
    ["exaone-3.5-7.8b", 547],
    ["glm-4-9b", 667],
  ] as const;
  for (const [model, prompts] of short) {
    const lost = lostByQuarter(model, prompts, requestsOf(200, 1));
    expect(lost).toBeGreaterThan(0.36);
    expect(lost).toBeLessThan(0.6);
  }
  expect(lostByQuarter("llama-3.1-8b", 1070, requestsOf(3146, 0.4))).toBeLessThan(0.15);
  expect(lostByQuarter("deepseek-r1-distill-qwen-7b", 1428, requestsOf(3734, 0.4))).toBeLessThan(0.2);
});

it("leaves out requests that no cache holds, and refuses where there are no others", () => {
  const small = { ...engineOf("qwen2.5-7b"), kvTokens: 1000 };
  const some = { inputTokens: [100, 900], outputTokens: [50, 900], seed: 1 };
  const session = { mostPrompts: 10, concurrency: null };
  const fitting = { inputTokens: [100], outputTokens: [50], seed: 1 };
  expect(simulatedSessionCost(small, some, session)(10)).toBe(simulatedSessionCost(small, fitting, session)(10));
  expect(() => simulatedSessionCost(small, { inputTokens: [900], outputTokens: [900], seed: 1 }, session)).toThrow("No request has room");
});
