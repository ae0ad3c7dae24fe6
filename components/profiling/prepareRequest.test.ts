import { describe, expect, it } from "vitest";
import { profileRequestSchema } from "@/server/contracts/studio/profile";
import { answererOf, measureNotes, measureRequest, prepareRequest, startSentence } from "./prepareRequest";
import {
  atUrl,
  type MeasureForm,
  measureOf,
  ofCluster,
  type ProfileForm,
  startingMeasures,
  startingModels,
  withMeasure,
} from "./profileForm";
import { testForm, testGround, testSet } from "./testProfile";

const models = ["llama-3.1-8b", "llama-3.1-70b"];
const prepared = (change: Partial<ProfileForm> = {}) => {
  const form = testForm(change);
  return prepareRequest({ ...form, chosen: form.chosen ?? [], measures: form.measures ?? [] }, testSet, new Map());
};
const measure = (kind: MeasureForm["kind"], change: Partial<MeasureForm> = {}) =>
  measureOf(kind, { id: "m", name: "M", judge: ofCluster("c", "weir-judge"), ...change });

describe("the request of a profile", () => {
  it("is one that the studio takes, with candidates smallest first", () => {
    const { request, blocked } = prepared();
    expect(blocked).toBeNull();
    expect(profileRequestSchema.parse(request).models.map(({ model }) => model)).toEqual(models);
  });

  it("asks for log probabilities and for no samples, unless told otherwise", () => {
    expect(prepared().request?.gates).toEqual({ confidence: true, samples: null });
    expect(prepared({ measure: "mean" }).request?.gates).toEqual({ confidence: true, measure: "mean", samples: null });
    expect(prepared({ measure: "mean", confidence: false }).request?.gates).toEqual({ confidence: false, samples: null });
    const { request } = prepared({ confidence: false, samples: 2 });
    expect(request?.gates).toEqual({ confidence: false, samples: { count: 2, temperature: 1 } });
    expect(request && startSentence(request, 500)).toContain("Asks 2 models 500 prompts each, samples 2 further answers to each and has");
  });

  it.each([
    [{ name: " " }, "Give the profile a name."],
    [{ chosen: [] }, "Choose at least one model."],
    [{ chosen: [ofCluster("c", "a-1b"), ofCluster("d", "a-1b")] }, "a-1b is chosen twice: leave one out."],
    [{ measures: [] }, "Add at least one measure."],
    [{ elsewhere: [atUrl] }, "Give the address of model 1, as in https://models.example.com."],
  ] satisfies [Partial<ProfileForm>, string][])("says what is in the way of %j", (change, sentence) => {
    expect(prepared(change)).toEqual({ request: null, blocked: sentence });
  });

  it("takes no sample whose texts are gone", () => {
    const form = testForm();
    const { blocked } = prepareRequest(
      { ...form, chosen: form.chosen ?? [], measures: form.measures ?? [] },
      { ...testSet, deleted: true },
      new Map(),
    );
    expect(blocked).toContain("were deleted");
  });

  it("names a key by reference and never takes one itself", () => {
    const at = { ...atUrl, model: "m", url: "https://m.example.com" };
    expect(answererOf({ ...at, key: { from: "environment", text: "sk-abc" } }, "m")).toEqual({
      fault: "Key of m: Name a variable that begins with WEIR_ENGINE_, not the key itself: the studio keeps no keys.",
    });
    expect(answererOf({ ...at, key: { from: "file", text: "m-key" }, servedName: "org/m" }, "m")).toMatchObject({
      answerer: { at: { kind: "url", url: "https://m.example.com", key: { file: "m-key" }, servedName: "org/m" } },
    });
  });
});

describe("a measure", () => {
  it("is held against the largest model unless another is named, and needs two", () => {
    expect(measureRequest(measure("pairwise"), models)).toMatchObject({ measure: { against: "llama-3.1-70b", swap: true } });
    expect(measureRequest(measure("pairwise", { against: "llama-3.1-8b" }), models)).toMatchObject({
      measure: { against: "llama-3.1-8b" },
    });
    expect(measureRequest(measure("pairwise"), ["one"])).toEqual({ fault: "“M” compares two models: choose at least two." });
  });

  it("of the operator's own words needs the places of its kind", () => {
    expect(measureRequest(measure("rubric", { rubric: "Grade {answer}" }), models)).toMatchObject({
      fault: expect.stringContaining("needs the place {prompt}"),
    });
  });

  it("by tests needs a command", () => {
    expect(measureRequest(measure("unit-test"), models)).toEqual({ fault: "Give the command of “M”." });
    expect(measureRequest(measure("unit-test", { command: "python3 test.txt" }), models)).toMatchObject({
      measure: { command: ["python3", "test.txt"] },
    });
  });

  it("tells which prompts it cannot score, and judges who favour themselves", () => {
    const ground = { set: testSet, models, clusters: [testGround] };
    expect(measureNotes(measure("exact"), ground)[0]).toContain("Only 250 of 500 prompts have a reference answer");
    expect(measureNotes(measure("unit-test"), ground)[0]).toContain("No prompt has a test");
    expect(measureNotes(measure("rubric"), ground)).toEqual([]);
    expect(measureNotes(measure("rubric", { judge: ofCluster("c", "llama-3.1-70b") }), ground)).toEqual([
      "A model that judges its own answers favours them.",
    ]);
    const emulated = [{ ...testGround, emulated: true }];
    expect(measureNotes(measure("exact"), { ...ground, clusters: emulated }).at(-1)).toContain("Emulated engines");
  });
});

describe("a form to begin with", () => {
  it("takes what runs on the cluster that is spoken of, else on the first that runs anything", () => {
    const idle = { ...testGround, id: "idle", models: [] };
    expect(startingModels([idle, testGround], "c").map(({ model }) => model)).toEqual(models);
    expect(startingModels([idle, testGround], "idle").map(({ clusterId }) => clusterId)).toEqual(["c", "c"]);
    expect(startingModels([idle], "idle")).toEqual([]);
  });

  it("has the cluster's judge as the gate, and as the label what the prompts allow", () => {
    const kinds = (set: typeof testSet, ground = testGround) =>
      startingMeasures(set, [ground], "c").map(({ kind, judge }) => `${kind} ${judge.model}`.trim());
    expect(kinds(testSet)).toEqual(["rubric weir-judge", "exact"]);
    expect(kinds({ ...testSet, withReference: 10, withTest: 400 })).toEqual(["rubric weir-judge", "unit-test"]);
    expect(kinds({ ...testSet, withReference: 10 })).toEqual(["rubric weir-judge", "rubric llama-3.1-70b"]);
    const emulated = { ...testGround, emulated: true, judges: ["weir-judge", "weir-trusted-judge"] };
    expect(kinds(testSet, emulated)).toEqual(["rubric weir-judge", "rubric weir-trusted-judge"]);
  });

  it("gives every measure that is added an id of its own", () => {
    let measures = startingMeasures(testSet, [testGround], "c");
    for (let count = 0; count < 4; count += 1) measures = withMeasure(measures.slice(1), [testGround], "c");
    expect(new Set(measures.map(({ id }) => id)).size).toBe(measures.length);
  });
});

it("says in one sentence what starting does", () => {
  const { request } = prepared({ capUsd: 5 });
  if (request === null) throw new Error("nothing to start");
  expect(startSentence(request, 500)).toContain(
    "Asks 2 models 500 prompts each and has every answer read by 2 measures, pauses before it could spend more than $5",
  );
});
