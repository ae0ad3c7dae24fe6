import { expect, it } from "vitest";
import { testEngine, testFrame, testGpu } from "../testing/testFrame";
import { choicesOf, prepareSubjects } from "./prepareSubjects";

const frame = testFrame({
  engines: [testEngine("e1"), testEngine("e2", { model: "large-70b" })],
  gpus: [testGpu({ engineId: "e1" }), testGpu({ index: 1, instance: { id: "3", profile: "1g.10gb" } })],
});

it("names what is there, and after it what was there in the time shown", () => {
  const subjects = prepareSubjects(frame, null, ["engine:e1", "engine:gone:1", "gateway", "gpu:n1/0", "stage:old-13b"]);
  expect(subjects.models).toEqual(["small-8b", "large-70b", "old-13b"]);
  expect(subjects.engines).toEqual([
    { id: "e1", model: "small-8b" },
    { id: "e2", model: "large-70b" },
    { id: "gone:1", model: null },
  ]);
});

it("calls GPUs and their parts as their series are kept, with the model that holds them", () => {
  expect(prepareSubjects(frame, null, []).gpus).toMatchObject([
    { subject: "gpu:n1/0", name: "GPU 0", model: "small-8b" },
    { subject: "gpu:n1/1/3", name: "GPU 1, 1g.10gb (3)", model: null },
  ]);
});

it("offers of each scope what there is to choose", () => {
  const subjects = prepareSubjects(frame, null, []);
  expect((["cluster", "model", "engine", "gpu"] as const).map((scope) => choicesOf(subjects, scope))).toEqual([
    [],
    ["small-8b", "large-70b"],
    ["e1", "e2"],
    ["n1"],
  ]);
  expect(prepareSubjects(undefined, null, [])).toEqual({ models: [], engines: [], gpus: [] });
});
