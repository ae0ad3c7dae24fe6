import { describe, expect, it } from "vitest";
import type { Answerer, Measure, ProfileRequest } from "@/server/contracts/studio";
import type { StoredAnswer, StoredProfile, StoredReading } from "@/server/store/profileRepository";
import { modelCards } from "@/solver/hardware/models";
import { SAMPLES_ID } from "./gateReadings";
import { createMeasureReadings } from "./measures/readings";
import { measuresProblem, profileTable, replayableIds } from "./profileTable";

const at = { kind: "cluster", clusterId: "c" } as const;
const asked = (model: string): Answerer => ({ model, at, usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 });
const rubric = (id: string, judge: string): Measure => ({ id, name: id, kind: "rubric", judge: asked(judge), rubric: null, repeats: 1 });
const exact: Measure = { id: "right", name: "right", kind: "exact", extract: "number" };
const request: ProfileRequest = {
  ...{
    name: "job",
    promptSetId: "s",
    models: ["gemma-2-2b", "gemma-2-9b"].map(asked),
    measures: [rubric("gate", "j"), rubric("twin", "j"), rubric("other", "k"), exact],
  },
  ...{ concurrency: 1, requestsPerMinute: null, capUsd: null, maxOutputTokens: 10, keepAnswers: false },
  gates: { confidence: false, samples: null },
};
const profile: StoredProfile = {
  id: "p",
  createdAt: "",
  actor: "a",
  promptSetId: "s",
  request,
  state: "done",
  pause: null,
  withoutLogprobs: null,
};
const answer = (position: number, model: string, inputTokens: number | null): StoredAnswer => ({
  ...{ position, model, at: "", inputTokens, outputTokens: 5 + position, ttftSeconds: 1, seconds: 2, engine: null, inFlight: 1, cut: null },
  confidence: null,
});
const reading = (position: number, model: string, score: number | null): StoredReading => ({
  position,
  model,
  reading: 0,
  score,
  unscored: null,
});
const models = request.models.map(({ model }) => model);
const all = <Row>(make: (position: number, model: string) => Row | null): readonly Row[] =>
  [0, 1, 2, 3].flatMap((position) => models.flatMap((model) => make(position, model) ?? []));

const table = (change: Partial<Parameters<typeof profileTable>[0]> = {}) =>
  profileTable({
    ...{ profile, promptSetName: "set", prompts: 4, gate: "gate", label: "right", emulated: false, models: modelCards, peer: null },
    promptOf: (position) => ({ id: `id [${position}]`, category: "c" }),
    answers: all((position, model) => answer(position, model, model === "gemma-2-2b" ? 10 : 12)),
    readingsOf: (measureId) => all((position, model) => reading(position, model, measureId === "gate" ? 60 + position : 100)),
    countedScore: createMeasureReadings({ problem: async () => null, passes: async () => null }).countedScore,
    ...change,
  });

describe("a workload's table from a profile", () => {
  it("keeps label and judged score apart, with the largest count of a prompt's tokens and ids that can be replayed", () => {
    const made = table();
    if (!made.ok) throw new Error(made.message);
    expect(made.leftOut).toBe(0);
    expect(made.table.promptIds).toEqual(["id _0_", "id _1_", "id _2_", "id _3_"]);
    expect([...made.table.inputTokens]).toEqual([12, 12, 12, 12]);
    expect(made.table.models.map(({ model }) => model)).toEqual(models);
    expect([...(made.table.models[0]?.label ?? [])]).toEqual([100, 100, 100, 100]);
    expect([...(made.table.models[0]?.judged ?? [])]).toEqual([60, 61, 62, 63]);
    expect(made.origin).toBe(
      'profile "job": 4 prompts of "set" answered by gemma-2-2b, gemma-2-9b; judged score by gate (rubric by j); label by right (exact)',
    );
  });

  it("leaves prompts out that are not whole, and says how many and why", () => {
    const made = table({
      answers: all((position, model) => (position === 0 && model === "gemma-2-9b" ? null : answer(position, model, null))),
      readingsOf: (measureId) => all((position, model) => reading(position, model, measureId === "gate" && position === 1 ? null : 50)),
    });
    expect(made).toMatchObject({
      ok: true,
      leftOut: 2,
      origin: expect.stringContaining("2 left out: 1 without an answer of every model, 1 without a score for the gate"),
    });
    expect(table({ answers: [], readingsOf: () => [] })).toEqual({
      ok: false,
      message:
        "No prompt is whole: 4 without an answer of every model. Let the job go on, or choose measures that score more of the answers.",
    });
  });

  it("has the gate columns of models whose answers all have them, and says which are left out", () => {
    const made = table({
      answers: all((position, model) => ({
        ...answer(position, model, 10),
        confidence: model === "gemma-2-9b" && position === 3 ? null : 90 + position,
      })),
      readingsOf: (measureId) =>
        measureId === SAMPLES_ID
          ? [0, 1, 2, 3].flatMap((position) =>
              [100, position < 2 ? 0 : 100].map((score, at) => ({ ...reading(position, "gemma-2-2b", score), reading: at })),
            )
          : all((position, model) => reading(position, model, measureId === "gate" ? 60 + position : 100)),
    });
    if (!made.ok) throw new Error(made.message);
    const [small, large] = made.table.models;
    expect([...(small?.confidence ?? [])]).toEqual([90, 91, 92, 93]);
    expect([...(small?.agreement ?? [])]).toEqual([50, 50, 100, 100]);
    expect([large?.confidence, large?.agreement]).toEqual([undefined, undefined]);
    expect(made.origin).toContain("; no confidence of gemma-2-9b, which is missing for 1 of 4 answers");
    expect(made.origin).not.toContain("agreement");
    // A prompt that the table does not have needs no confidence.
    const without = table({
      answers: all((position, model) => ({ ...answer(position, model, 10), confidence: position === 3 ? null : 90 })),
      readingsOf: (measureId) =>
        all((position, model) =>
          measureId === SAMPLES_ID || (position === 3 && model === "gemma-2-2b") ? null : reading(position, model, 60),
        ),
    });
    expect(without.ok && without.table.models.map(({ confidence }) => confidence?.length)).toEqual([3, 3]);
  });

  it("leaves prompts out whose samples are yet to be taken, as those without an answer, until the job is over", () => {
    const stopped = { ...profile, state: "stopped" } as const;
    const readingsOf = (measureId: string) =>
      all((position, model) =>
        measureId === SAMPLES_ID && position === 3 ? null : reading(position, model, measureId === "gate" ? 60 + position : 100),
      );
    const made = table({ profile: stopped, readingsOf });
    expect(made).toMatchObject({ ok: true, leftOut: 1, origin: expect.stringContaining("1 left out: 1 without a sample of every model") });
    expect(made.ok && [...(made.table.models[0]?.agreement ?? [])]).toEqual([100, 100, 100]);
    const over = table({ readingsOf });
    expect(over).toMatchObject({ ok: true, leftOut: 0 });
    expect(over.ok && over.table.models[0]?.agreement).toBeUndefined();
  });

  it("says of unknown models where to add them", () => {
    expect(table({ models: {} })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^There is no model card "gemma-2-2b": add one/),
    });
  });

  it("is refused where gate and label are one, or nobody can see the gate's score while serving", () => {
    expect(measuresProblem(request, "gate", "right")).toBeNull();
    expect(measuresProblem(request, "gate", "other")).toBeNull();
    expect(measuresProblem(request, "gate", "gate")).toMatch(
      /^"gate" cannot be both: .* a second judge, with reference answers or with unit tests/,
    );
    expect(measuresProblem(request, "gate", "twin")).toMatch(/^"gate" and "twin" are the same judge with the same words\./);
    expect(measuresProblem(request, "right", "gate")).toMatch(/^"right" cannot be the gate/);
    expect(measuresProblem(request, "gate", "none")).toBe('This profile has no measure "none".');
  });
});

it("gives every prompt an id of its own that can stand in brackets", () => {
  expect(replayableIds(["a", "a", "", "x]y", "a-2"])).toEqual(["a", "a-2", "prompt-3", "x_y", "a-2-2"]);
});
