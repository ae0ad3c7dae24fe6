import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantile } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { composeEndToEnd, type EndToEndInput } from "./endToEnd";

function input(stageSeconds: readonly number[], share: readonly number[], startsLater = false): EndToEndInput {
  const random = seededRandom(1);
  const exit = Uint8Array.from({ length: 2000 }, () => {
    const draw = random.next();
    return share.filter((reach) => draw < reach).length - 1;
  });
  const relative = stageSeconds.map(() => Float64Array.from(exit, () => random.lognormal(-0.8, 0.5)));
  const start = exit.map((leaves) => (startsLater ? random.int(leaves + 1) : 0));
  const judged = stageSeconds.slice(1).map(() => true);
  return { start, exit, judged, relative, stageSeconds, judgeSecondsPerCall: 0.27, quantile: 0.95, stride: 1 };
}

/** The definition, without classes: follow every prompt and take the percentile. */
function bySorting({ start, exit, relative, stageSeconds, judgeSecondsPerCall, quantile: q }: EndToEndInput): number {
  const totals = Float64Array.from(exit, (leaves, prompt) => {
    const from = start[prompt]!;
    let seconds = judgeSecondsPerCall * (Math.min(leaves + 1, stageSeconds.length - 1) - from);
    for (let stage = from; stage <= leaves; stage += 1) seconds += stageSeconds[stage]! * relative[stage]![prompt]!;
    return seconds;
  });
  return quantile(totals, q);
}

const latencies = fc.array(fc.double({ min: 0.5, max: 20, noNaN: true }), { minLength: 3, maxLength: 3 });
const shares = fc
  .tuple(fc.double({ min: 0.05, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([b, c]) => [1, b, b * c]);

describe("composeEndToEnd", () => {
  it("counts a judge that is an engine like a stage that every judged request visits", () => {
    fc.assert(
      fc.property(latencies, shares, fc.double({ min: 0.05, max: 5, noNaN: true }), (stageSeconds, share, judgeSeconds) => {
        const given = { ...input(stageSeconds, share), judgeSecondsPerCall: 0 };
        const calls = Float64Array.from(given.exit, (leaves, prompt) => Math.min(leaves + 1, 2) - given.start[prompt]!);
        const { seconds, weights } = composeEndToEnd({ ...given, stageSeconds: [...stageSeconds, judgeSeconds], judgedRelative: calls });
        const fixed = composeEndToEnd({ ...given, judgeSecondsPerCall: judgeSeconds });
        expect(seconds).toBeCloseTo(fixed.seconds, 9);
        expect((weights[3] ?? 0) * judgeSeconds).toBeCloseTo(fixed.judgeSeconds, 9);
        const sum = [...stageSeconds, judgeSeconds].reduce((total, own, row) => total + own * (weights[row] ?? 0), 0);
        expect(sum).toBeCloseTo(seconds, 6);
      }),
      { numRuns: 40 },
    );
  });

  it("takes of answers that a stage's gate waits for together the slowest, and none that is quicker than the stage's own", () => {
    fc.assert(
      fc.property(latencies, shares, fc.double({ min: 0.01, max: 30, noNaN: true }), (stageSeconds, share, peerSeconds) => {
        const given = input(stageSeconds, share);
        const random = seededRandom(4);
        const relative = Float64Array.from(given.exit, () => random.lognormal(-0.8, 0.5));
        const withPeer = { ...given, stageSeconds: [...stageSeconds, peerSeconds], besides: [{ stage: 0, row: 3, relative }] };
        const { seconds, weights, judgeSeconds } = composeEndToEnd(withPeer);
        // The same as a first stage that takes as long as the slower of both.
        const slower = given.relative[0]!.map((own, prompt) => Math.max(stageSeconds[0]! * own, peerSeconds * relative[prompt]!));
        const alone = composeEndToEnd({
          ...given,
          relative: [slower, ...given.relative.slice(1)],
          stageSeconds: [1, ...stageSeconds.slice(1)],
        });
        expect(seconds).toBeCloseTo(alone.seconds, 9);
        const sum = [...stageSeconds, peerSeconds].reduce((total, own, row) => total + own * (weights[row] ?? 0), judgeSeconds);
        expect(sum).toBeCloseTo(seconds, 6);
      }),
      { numRuns: 40 },
    );
  });

  it("counts neither a stage that a prompt passes over nor the answers that its gate would wait for", () => {
    fc.assert(
      fc.property(latencies, shares, fc.double({ min: 0.01, max: 30, noNaN: true }), (stageSeconds, share, peerSeconds) => {
        const given = { ...input(stageSeconds, share), stageSeconds: [...stageSeconds, peerSeconds], judgeSecondsPerCall: 0 };
        const random = seededRandom(5);
        // Every stage up to the exit, or the first and the third alone.
        const visits = given.exit.map((leaves) => (leaves === 2 && random.next() < 0.5 ? 0b101 : (2 << leaves) - 1));
        const whereVisited = (own: Float64Array): Float64Array => own.map((value, prompt) => (visits[prompt] === 0b101 ? 0 : value));
        const beside = Float64Array.from(given.exit, () => random.lognormal(-0.8, 0.5));
        const [first, second, third] = given.relative;
        const passing = composeEndToEnd({ ...given, visits, besides: [{ stage: 1, row: 3, relative: beside }] });
        const idle = composeEndToEnd({
          ...given,
          relative: [first!, whereVisited(second!), third!],
          besides: [{ stage: 1, row: 3, relative: whereVisited(beside) }],
        });
        expect(passing).toEqual(idle);
      }),
      { numRuns: 40 },
    );
  });

  it("waits for a gate's further answers only where it scores the stage's own", () => {
    fc.assert(
      fc.property(latencies, shares, fc.double({ min: 0.01, max: 30, noNaN: true }), (stageSeconds, share, peerSeconds) => {
        const given = { ...input(stageSeconds, share), stageSeconds: [...stageSeconds, peerSeconds], judgeSecondsPerCall: 0 };
        const random = seededRandom(6);
        const visits = given.exit.map((leaves) => (2 << leaves) - 1);
        const scored = visits.map((own) => own & random.int(4));
        const beside = Float64Array.from(given.exit, () => random.lognormal(-0.8, 0.5));
        const whereScored = beside.map((own, prompt) => (((scored[prompt] ?? 0) & 1) === 1 ? own : 0));
        const some = composeEndToEnd({ ...given, visits, scored, besides: [{ stage: 0, row: 3, relative: beside }] });
        const idle = composeEndToEnd({ ...given, visits, besides: [{ stage: 0, row: 3, relative: whereScored }] });
        expect(some).toEqual(idle);
      }),
      { numRuns: 40 },
    );
  });

  it("finds the percentile of the summed latencies, wherever requests start", () => {
    fc.assert(
      fc.property(latencies, shares, fc.boolean(), (stageSeconds, share, startsLater) => {
        const given = input(stageSeconds, share, startsLater);
        const exact = bySorting(given);
        // Latency classes are a thousandth of the longest latency wide, and a rank may be off by a prompt to either side.
        const longest = bySorting({ ...given, quantile: 1 });
        expect(Math.abs(composeEndToEnd(given).seconds - exact)).toBeLessThan(0.01 * exact + longest / 500);
      }),
      { numRuns: 40 },
    );
  });

  it("returns weights that add up to the percentile where they were taken", () => {
    fc.assert(
      fc.property(latencies, shares, fc.boolean(), (stageSeconds, share, startsLater) => {
        const { seconds, weights, judgeSeconds } = composeEndToEnd(input(stageSeconds, share, startsLater));
        const sum = weights.reduce((total, weight, stage) => total + weight * stageSeconds[stage]!, judgeSeconds);
        expect(sum).toBeCloseTo(seconds, 6);
      }),
      { numRuns: 40 },
    );
  });

  it("returns weights that add up to the percentile though nearly all requests take the same and some far longer", () => {
    const nearlySame = fc.record({
      seconds: fc.double({ min: 0.001, max: 0.1, noNaN: true }),
      spread: fc.constantFrom(0, 1e-4, 1e-2),
      outlier: fc.double({ min: 1, max: 50, noNaN: true }),
      prompts: fc.integer({ min: 40, max: 700 }),
    });
    fc.assert(
      fc.property(nearlySame, ({ seconds, spread, outlier, prompts }) => {
        const relative = Float64Array.from({ length: prompts }, (_, prompt) => (prompt === 3 ? outlier : 1 + (spread * prompt) / prompts));
        const none = new Uint8Array(prompts);
        const given = {
          start: none,
          exit: none,
          judged: [],
          relative: [relative],
          stageSeconds: [seconds],
          judgeSecondsPerCall: 0,
          quantile: 0.95,
          stride: 1,
        };
        const composed = composeEndToEnd(given);
        expect((composed.weights[0] ?? 0) * seconds).toBeCloseTo(composed.seconds, 9);
        expect(composed.seconds).toBeGreaterThanOrEqual(seconds);
      }),
    );
  });

  it("returns weights that foretell what a small change of one stage does", () => {
    const given = input([2, 5, 9], [1, 0.5, 0.2]);
    const { seconds, weights } = composeEndToEnd(given);
    for (const stage of [0, 1, 2]) {
      const changed = { ...given, stageSeconds: given.stageSeconds.map((value, index) => (index === stage ? 1.1 * value : value)) };
      const foretold = seconds + 0.1 * given.stageSeconds[stage]! * weights[stage]!;
      expect(Math.abs(bySorting(changed) - foretold) / foretold).toBeLessThan(0.02);
    }
  });

  it("charges one judge call per answer that could have been sent on, none for a lone model", () => {
    expect(composeEndToEnd(input([3], [1])).judgeSeconds).toBe(0);
    const always = composeEndToEnd({ ...input([1, 1], [1, 1]), stageSeconds: [0, 0] });
    expect(always.judgeSeconds).toBeCloseTo(0.27, 3);
    const unjudged = { ...input([1, 1, 1], [1, 1, 1]), stageSeconds: [0, 0, 0] };
    expect(composeEndToEnd(unjudged).judgeSeconds).toBeCloseTo(0.54, 3);
    expect(composeEndToEnd({ ...unjudged, judged: [false, true] }).judgeSeconds).toBeCloseTo(0.27, 3);
    expect(composeEndToEnd({ ...unjudged, judged: [false, false] }).judgeSeconds).toBe(0);
  });
});
