import * as fc from "fast-check";
import { expect, it } from "vitest";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { noConstraints } from "@/solver/plan/constraints";
import { parallelSeconds } from "./criticalPath";
import type { MixCall, MixCandidate, MixProblem } from "./problem";
import { solveMix } from "./solveMix";

const engine = await loadGlpkEngine();
const solving = { engine, timeLimitSeconds: 60, nowSeconds: () => performance.now() / 1000 };

/** A program of two models: parallel branches of one or two calls, and a call that reads their last answers. */
const anyCalls: fc.Arbitrary<readonly MixCall[]> = fc
  .array(fc.array(fc.record({ model: fc.nat(1), work: fc.integer({ min: 1, max: 9 }) }), { minLength: 1, maxLength: 2 }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((branches) => {
    const calls: MixCall[] = [];
    const lasts: number[] = [];
    for (const branch of branches) {
      for (const [at, { model, work }] of branch.entries())
        calls.push({ work: model === 0 ? [work, 0] : [0, work], reads: at === 0 ? [] : [calls.length - 1] });
      lasts.push(calls.length - 1);
    }
    return [...calls, { work: [1, 0], reads: lasts }];
  });

const secondsOf = ({ work }: MixCall, secondsOfWork: readonly number[]): number =>
  work.reduce((sum, own, model) => sum + own * (secondsOfWork[model] ?? 0), 0);

/** The longest of all paths that end at a call, each followed backwards. */
function longestTo(calls: readonly MixCall[], at: number, secondsOfWork: readonly number[]): number {
  const call = calls[at] as MixCall;
  const before = call.reads.map((other) => longestTo(calls, other, secondsOfWork));
  return secondsOf(call, secondsOfWork) + Math.max(0, ...before);
}

const longest = (calls: readonly MixCall[], secondsOfWork: readonly number[]): number =>
  Math.max(...calls.map((_, at) => longestTo(calls, at, secondsOfWork)));

const candidateOf = (calls: readonly MixCall[]): MixCandidate => ({
  ...{ quality: 80, otherSeconds: 0, calls },
  work: [0, 1].map((model) => calls.reduce((sum, { work }) => sum + (work[model] ?? 0), 0)),
});

/** One workflow on more GPUs than it needs, where a unit of work takes the same time at any load. */
const problemOf = (candidates: readonly MixCandidate[], secondsOfWork: readonly number[]): MixProblem => ({
  classes: [{ name: "flow", requestsPerSecond: 0.01, floor: 50, divisible: false, candidates }],
  models: secondsOfWork.map((seconds, at) => ({
    model: `model-${at}`,
    shapes: [{ gpu: "g", shape: { tp: 1, pp: 1 }, curve: [{ inFlight: 1, workPerSecond: 1 / seconds }] }],
  })),
  nodes: [{ name: "node", gpu: "g", gpus: 4 }],
  usdPerGpuHour: { g: 1 },
  running: [],
  constraints: noConstraints,
  ...{ loadFactor: 0.8, slack: 0.1, enough: 1 },
});

const anySeconds = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 })).map((own) => own.map((each) => each / 8));

it("counts the time of calls beside the longest path, as following every path does", () => {
  fc.assert(
    fc.property(anyCalls, anySeconds, (calls, seconds) => {
      const sum = calls.reduce((all, call) => all + secondsOf(call, seconds), 0);
      expect(parallelSeconds({ calls }, seconds)).toBeCloseTo(sum - longest(calls, seconds), 9);
    }),
  );
  expect(parallelSeconds({}, [1])).toBe(0);
});

it("gives a workflow of parallel branches the candidate with the shortest critical path", () => {
  fc.assert(
    fc.property(fc.array(anyCalls, { minLength: 2, maxLength: 3 }), anySeconds, (all, seconds) => {
      const solved = solveMix(problemOf(all.map(candidateOf), seconds), solving);
      if (solved.outcome !== "mix") throw new Error(solved.kind);
      const shortest = Math.min(...all.map((calls) => longest(calls, seconds)));
      const path = longest(all[solved.shares[0]?.indexOf(1) ?? 0] ?? [], seconds);
      expect(path).toBeLessThanOrEqual(1.012 * shortest);
      expect(solved.served).toBeCloseTo(0.01 * path, 6);
    }),
    { numRuns: 40 },
  );
});

it("prefers parallel calls to fewer in a row that do less work in all", () => {
  const row = [0, 1, 2].map((at): MixCall => ({ work: [3, 0], reads: at === 0 ? [] : [at - 1] }));
  const parallel = [0, 1, 2, 3].map((): MixCall => ({ work: [3, 0], reads: [] }));
  const chosen = (candidates: readonly MixCandidate[]) => {
    const solved = solveMix(problemOf(candidates, [1, 1]), solving);
    return solved.outcome === "mix" ? solved.shares[0] : solved;
  };
  expect(chosen([row, parallel].map(candidateOf))).toEqual([0, 1]);
  // Were all calls counted, the row's nine seconds would be less than twelve.
  expect(chosen([row, parallel].map(candidateOf).map(({ calls: _, ...own }) => own))).toEqual([1, 0]);
});
