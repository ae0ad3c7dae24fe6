import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mean } from "../numeric/quantile";
import { drawPrograms } from "./drawPrograms";
import { programQuality, qualityOfLabels } from "./programQuality";
import { workflows } from "./templates";
import { testOutcomes } from "./testing/testOutcomes";
import type { StagePart, WorkflowStage } from "./workflow";

const stage = (part: StagePart, ...reads: readonly number[]): WorkflowStage => ({
  role: part,
  part,
  reads,
  instructionTokens: 10,
  lengthRatio: 1,
  lengthSpread: 0,
});

const revision = [stage("helps"), stage("solves", 0), stage("checks", 0, 1), stage("revises", 0, 1, 2)];
const parts: readonly StagePart[] = ["helps", "solves", "checks", "revises", "votes", "joins"];

/** Any stages, each reading some before it, that end in an answer. */
const anyStages = fc
  .array(fc.record({ part: fc.constantFrom(...parts), reads: fc.array(fc.nat(), { maxLength: 4 }) }), { minLength: 1, maxLength: 8 })
  .map((drawn) =>
    drawn.map(({ part, reads }, at) => stage(part, ...new Set(at === 0 ? [] : reads.map((read) => read % at).sort((a, b) => a - b)))),
  )
  .map((stages) => [...stages, stage("revises", ...stages.keys())]);

const anyLabel = fc.oneof(fc.constantFrom(0, 50, 100), fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 100, noNaN: true }));

describe("of right and wrong answers, a revision that follows a check", () => {
  test.each([
    ["keeps a right draft that the check lets stand", [100, 100, 0], 100],
    ["writes a wrong draft anew that the check finds wrong", [0, 100, 100], 100],
    ["may write it wrong again", [0, 100, 0], 0],
    ["keeps a wrong draft that the check lets stand", [0, 0, 100], 0],
    ["writes a right draft anew that the check finds wrong", [100, 0, 0], 0],
    ["may write it right again", [100, 0, 100], 100],
  ])("%s", (_, draftCheckAndOwn, quality) => {
    expect(qualityOfLabels(revision, [0, ...draftCheckAndOwn])).toBe(quality);
    expect(qualityOfLabels(revision, [100, ...draftCheckAndOwn])).toBe(quality);
  });
});

test("a revision without a check stands for itself, and one without a draft too", () => {
  expect(qualityOfLabels([stage("solves"), stage("revises", 0)], [100, 30])).toBe(30);
  expect(qualityOfLabels([stage("checks"), stage("revises", 0)], [100, 30])).toBe(30);
});

test("graded labels are weighed by the check: a middling one finds a part of what is wrong", () => {
  expect(qualityOfLabels(revision, [0, 40, 95, 90])).toBe(90);
  expect(qualityOfLabels(revision, [0, 40, 60, 90])).toBe(60);
  expect(qualityOfLabels(revision, [0, 40, 10, 90])).toBe(40);
});

test("a vote is the median, and where votes tie the one who counts decides", () => {
  const vote = [stage("solves"), stage("solves"), stage("solves"), stage("solves"), stage("votes", 0, 1, 2, 3)];
  expect(qualityOfLabels(vote, [100, 100, 100, 0, 0])).toBe(100);
  expect(qualityOfLabels(vote, [100, 0, 0, 0, 100])).toBe(0);
  expect(qualityOfLabels(vote, [100, 100, 0, 0, 0])).toBe(0);
  expect(qualityOfLabels(vote, [100, 100, 0, 0, 100])).toBe(100);
  const three = [...vote.slice(0, 3), stage("votes", 0, 1, 2)];
  expect(qualityOfLabels(three, [20, 90, 60, 0])).toBe(60);
});

test("a join is the mean of its parts, and who helps or checks leaves the answer as it is", () => {
  expect(qualityOfLabels([stage("helps"), stage("solves", 0), stage("solves", 0), stage("joins", 1, 2)], [100, 100, 0, 100])).toBe(50);
  expect(qualityOfLabels([stage("solves"), stage("helps", 0), stage("checks", 0, 1)], [70, 0, 100])).toBe(70);
  expect(qualityOfLabels([stage("helps"), stage("checks", 0)], [70, 100])).toBeNaN();
});

describe("a stage that is misled", () => {
  const planned = [stage("helps"), stage("solves", 0), stage("checks", 0, 1), stage("revises", 0, 1, 2)];
  const misled = (...who: readonly number[]): Uint8Array => Uint8Array.of(...who);
  test.each([
    ["solves wrongly after a wrong plan", { stages: planned.slice(0, 2), labels: [0, 100], who: [0, 1] }, 0],
    ["and rightly after a right one", { stages: planned.slice(0, 2), labels: [100, 100], who: [1, 1] }, 100],
    ["or is not misled", { stages: planned.slice(0, 2), labels: [0, 100], who: [1, 0] }, 100],
    ["is repaired by a check and a revision that are not", { stages: planned, labels: [0, 100, 100, 100], who: [0, 1, 0, 0] }, 100],
    ["is not repaired where the check is misled too", { stages: planned, labels: [0, 100, 100, 100], who: [0, 1, 1, 0] }, 0],
    [
      "hands a wrong plan on through one that plans after it",
      { stages: [stage("helps"), stage("helps", 0), stage("solves", 1)], labels: [0, 100, 100], who: [0, 1, 1] },
      0,
    ],
    ["keeps a wrong draft that it revises unchecked", { stages: [stage("solves"), stage("revises", 0)], labels: [0, 100], who: [0, 1] }, 0],
    [
      "follows the check in place of the draft where there is one",
      { stages: [stage("solves"), stage("checks", 0), stage("revises", 0, 1)], labels: [0, 100, 100], who: [1, 1, 1] },
      100,
    ],
    [
      "is no better than the worst plan, of graded labels",
      { stages: [stage("helps"), stage("helps"), stage("solves", 0, 1)], labels: [70, 40, 90], who: [0, 0, 1] },
      40,
    ],
    ["is as it was where it is worse itself", { stages: [stage("helps"), stage("solves", 0)], labels: [70, 30], who: [0, 1] }, 30],
  ])("%s", (_, { stages, labels, who }, quality) => {
    expect(qualityOfLabels(stages, labels, { misled: Uint8Array.from(who) })).toBe(quality);
  });

  test("in one vote of three loses to two that are not", () => {
    const vote = [stage("helps"), stage("solves", 0), stage("solves", 0), stage("solves", 0), stage("votes", 1, 2, 3)];
    expect(qualityOfLabels(vote, [0, 100, 100, 100, 0], { misled: misled(0, 1, 0, 0, 0) })).toBe(100);
    expect(qualityOfLabels(vote, [0, 100, 100, 100, 0], { misled: misled(0, 1, 1, 0, 0) })).toBe(0);
  });
});

test("quality lies within the labels, and none falls where labels rise, whoever is misled", () => {
  const anyMisled = fc.option(fc.uint8Array({ minLength: 9, maxLength: 9, max: 1 }), { nil: undefined });
  fc.assert(
    fc.property(anyStages, fc.array(fc.tuple(anyLabel, anyLabel), { minLength: 10, maxLength: 10 }), anyMisled, (stages, pairs, misled) => {
      const used = pairs.slice(0, stages.length);
      const lower = used.map(([one, other]) => Math.min(one, other));
      const higher = used.map(([one, other]) => Math.max(one, other));
      const [low, high] = [qualityOfLabels(stages, lower, { misled }), qualityOfLabels(stages, higher, { misled })];
      expect(low).toBeGreaterThanOrEqual(Math.min(...lower) - 1e-9);
      expect(high).toBeLessThanOrEqual(Math.max(...higher) + 1e-9);
      expect(low).toBeLessThanOrEqual(high + 1e-9);
    }),
    { numRuns: 1000 },
  );
});

const outcomes = testOutcomes(400);
const everyRow = Int32Array.from({ length: 400 }, (_, at) => at);
const drawn = (correlation: number, name?: string) =>
  drawPrograms({
    outcomes,
    prompts: everyRow,
    mix: workflows.filter((workflow) => name === undefined || workflow.name === name).map((workflow) => ({ workflow, share: 1 })),
    correlation,
    arrivalSeconds: Float64Array.from({ length: 4000 }, (_, at) => at),
    seed: 5,
  });
const meanQuality = (sample: ReturnType<typeof drawn>, model: number): number => {
  const models = new Int8Array(sample.program.length).fill(model);
  return mean(Float64Array.from(sample.workflow, (_, program) => programQuality(sample, program, models)));
};

test("every template gives every program a quality of 0 to 100, and with all stages of one prompt its label", () => {
  const sample = drawn(0.5);
  const models = Int8Array.from(sample.program, (program) => program % 2);
  for (const program of sample.workflow.keys()) {
    const quality = programQuality(sample, program, models);
    expect(quality >= 0 && quality <= 100).toBe(true);
  }
  const alike = drawn(1);
  const large = new Int8Array(alike.program.length).fill(1);
  for (const program of alike.workflow.keys()) {
    expect(programQuality(alike, program, large)).toBe(outcomes.models[1]?.label[alike.prompt[program] ?? -1]);
  }
});

test("with stages that have nothing to do with one another, revision and voting are majorities: they lift a strong model and lower a weak one", () => {
  const right = (model: number): number => mean(outcomes.models[model]?.label ?? []) / 100;
  for (const model of [0, 1]) {
    const share = right(model);
    // Two of three, and three of five, by the binomial.
    const two = 3 * share ** 2 - 2 * share ** 3;
    const three = share ** 3 * (10 - 15 * share + 6 * share ** 2);
    expect(Math.abs(meanQuality(drawn(0, "planner-coder-qa-coder"), model) / 100 - two)).toBeLessThan(0.03);
    expect(Math.abs(meanQuality(drawn(0, "voting"), model) / 100 - three)).toBeLessThan(0.03);
    expect(Math.abs(meanQuality(drawn(0, "decomposition"), model) / 100 - share)).toBeLessThan(0.03);
  }
});

test("a program has no quality where a request has no answer or no label", () => {
  const sample = drawn(0.5, "planner-coder");
  const models = new Int8Array(sample.program.length);
  models[1] = -1;
  expect(programQuality(sample, 0, models)).toBeNaN();
  expect(programQuality(sample, 1, models)).not.toBeNaN();
  const label = sample.label.map((labels) => labels.map((value, request) => (request === 2 ? Number.NaN : value)));
  expect(programQuality({ ...sample, label }, 1, models)).toBeNaN();
});
