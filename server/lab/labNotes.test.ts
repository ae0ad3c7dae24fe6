import { expect, test } from "vitest";
import type { ArtefactTraining } from "@/server/contracts/gateway/artefacts";
import { predictorNotes } from "./labNotes";

const training = { source: "modelled programs", emulated: false, workloadId: "w1", workloadName: "tickets" } as ArtefactTraining;
const notes = (change: Partial<ArtefactTraining>) =>
  predictorNotes([{ hash: "ab".repeat(32), training: { ...training, ...change } }], "w1");

test("a predictor is told of unless it was held back from the very prompts of the run", () => {
  expect(notes({})).toEqual([]);
  expect(notes({ source: "labelled prompts", emulated: true })).toEqual([]);
  expect(notes({ workloadId: "w2" })).toEqual([
    expect.stringMatching(/^The predictor abababababab learnt from another workload, tickets:/),
  ]);
  expect(notes({ source: "executed runs", workloadId: "executed refine", workloadName: "runs.jsonl" })).toEqual([
    expect.stringMatching(/learnt from executed runs in runs.jsonl: prompts of this run may have been among their inputs/),
  ]);
  expect(notes({ source: "traffic", emulated: true })).toEqual([expect.stringMatching(/emulated engines, which replay held-out prompts/)]);
  expect(notes({ source: "traffic" })).toEqual([expect.stringMatching(/learnt from traffic: prompts of this run may have been among it/)]);
});
