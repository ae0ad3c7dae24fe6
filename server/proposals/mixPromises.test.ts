import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { measuredPromises } from "./measuredPromises";
import { programSeconds } from "./mixPromises";

const pair = workflowDocumentSchema.parse({
  name: "pair",
  agents: [{ name: "solver" }, { name: "checker", reads: ["solver"], part: "checks" }],
});
const vote = workflowDocumentSchema.parse({
  name: "vote",
  agents: [
    { name: "a" },
    { name: "b" },
    { name: "joined", reads: ["a", "b"], part: "votes", skip: { extraction: { kind: "number" }, tau: 1 } },
  ],
});
const TIME_SCALE = 2;

interface Call {
  readonly workflow?: string;
  readonly agent?: string;
  readonly program?: string;
  /** Engine seconds. */
  readonly from: number;
  readonly to: number;
}

const recordOf = ({ workflow, agent, program, from, to }: Call): Decision =>
  ({
    ...{ status: 200, finishedAtMs: (to * 1000) / TIME_SCALE, endToEndSeconds: to - from, stages: [], program },
    ...(workflow === undefined ? {} : { call: { workflow, agent: agent ?? "" } }),
  }) as unknown as Decision;

const secondsOf = (workflow: WorkflowDocument, calls: readonly Call[], p95Seconds = 10): readonly number[] =>
  programSeconds(
    calls.map((call) => recordOf({ workflow: workflow.name, ...call })).sort((a, b) => a.finishedAtMs - b.finishedAtMs),
    { workflow, timeScale: TIME_SCALE, p95Seconds },
  );

describe("the seconds of a program", () => {
  it("are those from its first call to its last answer, whatever else is under way", () => {
    const program = fc.record({
      from: fc.nat(1000),
      first: fc.integer({ min: 1, max: 50 }),
      gap: fc.nat(9),
      last: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(fc.array(program, { maxLength: 8 }), (programs) => {
        const calls = programs.flatMap(({ from, first, gap, last }, at) => [
          { program: `p${at}`, agent: "solver", from, to: from + first },
          { program: `p${at}`, agent: "checker", from: from + first + gap, to: from + first + gap + last },
        ]);
        const measured = [...secondsOf(pair, calls)].sort((a, b) => a - b);
        const expected = programs.map(({ first, gap, last }) => first + gap + last).sort((a, b) => a - b);
        expect(measured).toHaveLength(expected.length);
        for (const [at, seconds] of expected.entries()) expect(measured[at]).toBeCloseTo(seconds, 6);
      }),
    );
  });

  it("are not known of a program whose beginning or end is not in the records, or of another workflow", () => {
    expect(secondsOf(pair, [{ program: "p", agent: "solver", from: 0, to: 5 }])).toEqual([]);
    expect(secondsOf(pair, [{ program: "p", agent: "checker", from: 5, to: 9 }])).toEqual([]);
    expect(secondsOf(pair, [{ program: "p", workflow: "other", agent: "solver", from: 0, to: 5 }])).toEqual([]);
  });

  it("end with the answers that agree where the last agent was skipped, once nothing more can be expected", () => {
    const agreed = ["a", "b"].map((agent, at) => ({ program: "p", agent, from: 0, to: 4 + at }));
    const later = (to: number): Call => ({ program: "q", agent: "a", from: 0, to });
    expect(secondsOf(vote, [...agreed, later(14)])).toEqual([]);
    expect(secondsOf(vote, [...agreed, later(15)])).toEqual([5]);
    expect(secondsOf(vote, [...agreed, { program: "p", agent: "joined", from: 5, to: 12 }])).toEqual([12]);
  });
});

describe("a plan for a mix", () => {
  const draft = examplePlanDraft();
  const classOf = (name: string, p95Seconds: number) => ({
    ...{
      name,
      perSecond: 1,
      qualityFloor: 50,
      plannedQuality: 60,
      quality: name === "pair" ? null : 70,
      meanSeconds: 1,
      p95Seconds,
      simulated: 100,
    },
  });
  const unknown = { ...classOf("rare", 0), simulated: 0 };
  const mix = { factor: 1.2, unserved: 0, models: [], classes: [classOf("single requests", 2), classOf("pair", 8), unknown] };
  const policy = { kind: "just-in-time", workflows: [{ workflow: pair }], models: [] };
  const p95Band = { low: 2, high: 6, confidence: 0.9, basis: "" };
  const plan = { ...draft, policy, predictions: { ...draft.predictions, p95Seconds: 4, p95Band, mix, stages: [] } } as unknown as Plan;

  function promisesOf(singleSeconds: number, programSeconds: number) {
    const calls = Array.from({ length: 200 }, (_, at): readonly Call[] => [
      { from: at, to: at + singleSeconds },
      { workflow: "pair", program: `p${at}`, agent: "solver", from: at, to: at + programSeconds / 2 },
      { workflow: "pair", program: `p${at}`, agent: "checker", from: at + programSeconds / 2, to: at + programSeconds },
    ]).flat();
    const answered = calls.map(recordOf).sort((a, b) => a.finishedAtMs - b.finishedAtMs);
    const counts = { answered: answered.length, seen: answered.length, failed: 0 };
    const window = { answered, seen: answered, counts, seconds: 200, timeScale: TIME_SCALE, requestsPerSecond: null };
    return measuredPromises({ plan, window, acceptedScores: [], labelOf: () => 75, usdPerHour: null, notComparable: null });
  }

  test("promises each class that was simulated its own latency: programs by their whole time, and only the slow class is off", () => {
    const verdicts = (promises: ReturnType<typeof promisesOf>) =>
      promises.filter(({ quantity }) => quantity === "class-latency").map(({ name, measured, verdict }) => [name, measured, verdict]);
    expect(verdicts(promisesOf(1.5, 7))).toEqual([
      ["p95 of single requests", 1.5, "kept"],
      ["p95 of pair", 7, "kept"],
    ]);
    expect(verdicts(promisesOf(1.5, 14))).toEqual([
      ["p95 of single requests", 1.5, "kept"],
      ["p95 of pair", 14, "broken"],
    ]);
  });

  test("promises the quality of single requests alone, by their labels, no lower than its bound", () => {
    const quality = promisesOf(1, 2).filter(({ kind }) => kind === "score");
    expect(quality).toEqual([expect.objectContaining({ name: "quality of single requests", promised: 70, measured: 75, verdict: "kept" })]);
  });
});
