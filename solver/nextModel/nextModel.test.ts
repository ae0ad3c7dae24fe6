import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { gateReadings, priorBelief, rightAt, updated } from "./belief";
import { type CascadeRoutingDocument, cascadeRoutingSchema } from "./cascadeRoutingDocument";
import { fitCascadeRouting } from "./fitCascadeRouting";
import { nextModelOf } from "./nextModel";
import { anyScores, constantGates, constantHeads, routingOf } from "./testing/anyRouting";

const tradeOff = fc.double({ min: 0, max: 50, noNaN: true });
const positive = fc.double({ min: 0.01, max: 50, noNaN: true });
const anyScore = fc.integer({ min: 0, max: 100 });

describe("cascade routing", () => {
  it("without a trade-off and at equal costs ends with the best expected quality: no model alone, and no answer at hand, promises more", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: fc.constant(0), equalCosts: true }), anyScores, (document, scores) => {
        const { stage, options } = nextModelOf(document).choose(scores, []);
        const belief = priorBelief(document, scores);
        const chosen = options.find((option) => option.stage === stage)?.quality ?? 0;
        for (const model of document.gpuSeconds.keys()) expect(chosen).toBeGreaterThanOrEqual(100 * rightAt(belief, model) - 1e-9);
        for (const { quality } of options) expect(chosen).toBeGreaterThanOrEqual(quality);
      }),
    );
  });

  it("starts with the model alone of the best trade-off where no gate leads on", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff }), anyScores, (document, scores) => {
        const ungated = { ...document, gates: document.gates.map(() => null) };
        const { stage } = nextModelOf(ungated).choose(scores, []);
        const belief = priorBelief(document, scores);
        const value = (model: number): number =>
          100 * rightAt(belief, model) - document.pointsPerGpuSecond * (document.gpuSeconds[model] ?? 0);
        for (const model of document.gpuSeconds.keys()) expect(value(stage ?? -1)).toBeGreaterThanOrEqual(value(model) - 1e-9);
      }),
    );
  });

  it("goes on exactly while a model's expected gain for each GPU-second exceeds the trade-off", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff }), anyScores, fc.integer({ min: 0, max: 100 }), (document, scores, score) => {
        const { stage, quality, options } = nextModelOf(document).choose(scores, [{ stage: 0, score }]);
        const gains = options.map((option) => (option.quality - (quality ?? 0) - 1e-9) / option.gpuSeconds);
        expect(stage === null).toBe(gains.every((gain) => gain <= document.pointsPerGpuSecond));
      }),
    );
  });

  it("never chooses a model twice, nor a smaller one than has answered", () => {
    fc.assert(
      fc.property(
        routingOf({ pointsPerGpuSecond: tradeOff }),
        anyScores,
        fc.array(fc.integer({ min: 0, max: 100 })),
        (document, scores, read) => {
          const next = nextModelOf(document);
          const answers: { stage: number; score: number | null }[] = [];
          for (let { stage } = next.choose(scores, answers); stage !== null; { stage } = next.choose(scores, answers)) {
            expect(stage).toBeGreaterThan(answers.at(-1)?.stage ?? -1);
            answers.push({ stage, score: read[answers.length] ?? null });
          }
          expect(answers.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("stops at every higher score of an answer once it stops at one", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff }), anyScores, (document, scores) => {
        const next = nextModelOf(document);
        const stops = Array.from({ length: 21 }, (_, at) => next.choose(scores, [{ stage: 0, score: 5 * at }]).stage === null);
        const first = stops.indexOf(true);
        if (first >= 0) expect(stops.slice(first).every(Boolean)).toBe(true);
      }),
    );
  });

  it("asks a free gate exactly where one of its scores would lead on", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff, gateSeconds: fc.constant(0) }), anyScores, (document, scores) => {
        const next = nextModelOf(document);
        const goesOn = Array.from({ length: 101 }, (_, score) => next.choose(scores, [{ stage: 0, score }]).stage !== null);
        expect(next.scores(scores, [], 0)).toBe(goesOn.includes(true));
        expect(next.scores(scores, [], document.gpuSeconds.length - 1)).toBe(false);
      }),
    );
  });

  it("asks a gate no more often the more its scores take, and never one that takes more than any answer gains", () => {
    const priced = (document: CascadeRoutingDocument, gpuSeconds: number) =>
      nextModelOf({ ...document, gates: document.gates.map((gate) => gate && { ...gate, gpuSeconds }) });
    const seconds = fc.double({ min: 0.01, max: 20, noNaN: true });
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: positive }), anyScores, seconds, seconds, (document, scores, one, other) => {
        const [cheap, dear] = [priced(document, Math.min(one, other)), priced(document, Math.max(one, other))];
        for (const stage of document.gates.keys()) if (dear.scores(scores, [], stage)) expect(cheap.scores(scores, [], stage)).toBe(true);
        const beyond = priced(document, 101 / document.pointsPerGpuSecond);
        for (const stage of document.gates.keys()) expect(beyond.scores(scores, [], stage)).toBe(false);
        const ungated = nextModelOf({ ...document, gates: document.gates.map(() => null) });
        expect(beyond.choose(scores, [])).toEqual(ungated.choose(scores, []));
      }),
    );
  });

  it("expects of a model and its gate what following its own choices gives, score by score", () => {
    fc.assert(
      fc.property(
        routingOf({ pointsPerGpuSecond: positive, stages: 2, gateSeconds: fc.double({ min: 0.01, max: 5, noNaN: true }) }),
        anyScores,
        (document, scores) => {
          const next = nextModelOf(document);
          const [gate] = document.gates;
          if (gate == null) throw new Error("the first of two stages has a gate");
          const belief = priorBelief(document, scores);
          const [first] = next.choose(scores, []).options;
          const [own = 0, larger = 0] = document.gpuSeconds;
          if (!next.scores(scores, [], 0)) {
            expect(first?.quality).toBeCloseTo(100 * rightAt(belief, 0), 6);
            expect(first?.gpuSeconds).toBeCloseTo(own, 6);
            return;
          }
          let [quality, seconds] = [0, own + (gate.gpuSeconds ?? 0)];
          for (const level of gateReadings(gate).levels) {
            const mass = rightAt(belief, 0) * level.ifRight + (1 - rightAt(belief, 0)) * level.ifWrong;
            const after = updated(belief, 0, level);
            const [stays, goes] = [100 * rightAt(after, 0), 100 * rightAt(after, 1) - document.pointsPerGpuSecond * larger];
            quality += mass * (goes > stays ? 100 * rightAt(after, 1) : stays);
            if (goes > stays) seconds += mass * larger;
          }
          const worth = quality - document.pointsPerGpuSecond * seconds;
          const expected = (first?.quality ?? 0) - document.pointsPerGpuSecond * (first?.gpuSeconds ?? 0);
          expect(expected).toBeCloseTo(worth, 6);
        },
      ),
    );
  });

  it("never goes on for gain after a gate that says nothing", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: positive }).map(constantGates), anyScores, anyScore, (document, scores, score) => {
        const next = nextModelOf(document);
        const { stage } = next.choose(scores, []);
        if (stage === null) throw new Error("some model answers");
        expect(next.scores(scores, [], stage)).toBe(false);
        expect(next.choose(scores, [{ stage, score }]).stage).toBeNull();
      }),
    );
  });

  it("expects to spend no more where a GPU-second must gain more", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: fc.constant(0) }), anyScores, tradeOff, tradeOff, (document, scores, one, other) => {
        const spent = (pointsPerGpuSecond: number): number => {
          const { stage, options } = nextModelOf({ ...document, pointsPerGpuSecond }).choose(scores, []);
          return options.find((option) => option.stage === stage)?.gpuSeconds ?? 0;
        };
        expect(spent(Math.max(one, other))).toBeLessThanOrEqual(spent(Math.min(one, other)) + 1e-9);
      }),
    );
  });

  it("is a fixed start and one threshold where two models have constant heads", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff, stages: 2 }), anyScores, anyScores, (fitted, scores, others) => {
        const document = constantHeads(fitted);
        const next = nextModelOf(document);
        const decided = (own: readonly number[]) => [
          next.choose(own, []).stage,
          ...Array.from({ length: 101 }, (_, score) => next.choose(own, [{ stage: 0, score }]).stage),
        ];
        const [start, ...after] = decided(scores);
        expect(decided(others)).toEqual([start, ...after]);
        const threshold = after.indexOf(null) < 0 ? 101 : after.indexOf(null);
        expect(after).toEqual(after.map((_, score) => (score >= threshold ? null : 1)));
      }),
    );
  });

  it("passes a model over that gains less for its cost than the next", () => {
    const calibration = { raw: [0, 100], calibrated: [0, 100] };
    const document: CascadeRoutingDocument = cascadeRoutingSchema.parse({
      pointsPerGpuSecond: 1,
      gpuSeconds: [1, 4, 8],
      heads: [0, 1, 2].map(() => ({ centre: 0, slope: 1 })),
      // The two smaller models are right on the same prompts, the largest nearly always.
      patterns: [-2, -20, -20, -20, -1, -20, -20, -0.5],
      gates: [0, 1].map(() => ({ calibration, levels: [20, 80].map((score) => ({ score, share: 0.5 })) })),
    });
    const next = nextModelOf(document);
    expect(next.choose([50, 50, 90], [{ stage: 0, score: 5 }]).stage).toBe(2);
    expect(next.choose([50, 50, 90], [{ stage: 0, score: 99 }]).stage).toBeNull();
  });
});

describe("the fit of cascade routing", () => {
  it("expects of each model the share of prompts that it answers right, and more where its head says more", () => {
    const random = seededRandom(5);
    const prompts = 1200;
    const hard = Float64Array.from({ length: prompts }, () => random.next());
    const stages = [0.5, 0.8].map((strength) => {
      const label = hard.map((own) => (random.next() < strength + 0.9 * (0.5 - own) ? 100 : 0));
      return {
        label,
        routerScore: hard.map((own) => 100 * Math.min(1, Math.max(0, strength + 0.4 * (0.5 - own) + 0.3 * (random.next() - 0.5)))),
        gateScore: label.map((own) => Math.round(Math.min(100, Math.max(0, 30 + 0.4 * own + 40 * (random.next() - 0.5))))),
      };
    });
    const fit = fitCascadeRouting(stages);
    if (fit === null) throw new Error("no fit");
    const beliefs = hard.map((_, prompt) => prompt);
    for (const [stage, { label }] of stages.entries()) {
      const expected = [...beliefs].map((prompt) =>
        rightAt(
          priorBelief(
            fit,
            stages.map(({ routerScore }) => routerScore[prompt] ?? 0),
          ),
          stage,
        ),
      );
      const mean = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, own) => sum + own, 0) / prompts;
      expect(100 * mean(expected)).toBeCloseTo(mean(label), 0);
      expect(fit.heads[stage]?.slope).toBeGreaterThan(0.5);
      const easier = priorBelief(fit, [80, 95]);
      expect(rightAt(easier, stage)).toBeGreaterThan(rightAt(priorBelief(fit, [30, 60]), stage));
    }
    // Both models are right on the same prompts: a poor answer of one lowers what is expected of the other.
    const after = nextModelOf({ ...fit, gpuSeconds: [1, 4], pointsPerGpuSecond: 0 });
    const largest = (score: number) => after.choose([50, 80], [{ stage: 0, score }]).options[0]?.quality ?? 0;
    expect(largest(90)).toBeGreaterThan(largest(10));
  });

  it("has no slope where heads say nothing or the opposite, and is none on too few prompts", () => {
    const label = Float64Array.from({ length: 200 }, (_, prompt) => (prompt % 2 === 0 ? 100 : 0));
    const gateScore = label.map((own) => own / 2 + 20);
    const opposite = { label, gateScore, routerScore: label.map((own) => 80 - own / 2) };
    const constant = { label, gateScore, routerScore: label.map(() => 60) };
    expect(fitCascadeRouting([opposite, constant])?.heads.map(({ slope }) => slope)).toEqual([0, 0]);
    const few = { label: label.slice(0, 20), gateScore: gateScore.slice(0, 20), routerScore: label.slice(0, 20) };
    expect(fitCascadeRouting([few, few])).toBeNull();
  });
});

describe("a cascade routing in a document", () => {
  it("is read back as it was", () => {
    fc.assert(
      fc.property(routingOf({ pointsPerGpuSecond: tradeOff }), (document) => {
        expect(cascadeRoutingSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });

  it.each([
    ["a pattern too few", { patterns: [0, 0, 0] }],
    ["a head too many", { heads: [1, 2, 3].map(() => ({ centre: 0, slope: 1 })) }],
    ["no gate", { gates: [] }],
    ["a negative slope", { heads: [1, 2].map(() => ({ centre: 0, slope: -1 })) }],
    ["one stage", { gpuSeconds: [1] }],
  ])("with %s is refused", (_, change) => {
    const document = {
      pointsPerGpuSecond: 1,
      gpuSeconds: [1, 2],
      heads: [1, 2].map(() => ({ centre: 0, slope: 1 })),
      patterns: [0, 0, 0, 0],
      gates: [null],
    };
    expect(cascadeRoutingSchema.safeParse(document).success).toBe(true);
    expect(cascadeRoutingSchema.safeParse({ ...document, ...change }).success).toBe(false);
  });
});
