import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensembleOf, keepCluster, orderOf, questionsOf } from "@/server/batches/testing/testBatchStudio";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import type { StoredBatch, StoredBatchCall } from "./batchRepository";
import { openStore, type Store } from "./store";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-batches-"));
  store = openStore(folder);
  keepCluster(store);
  keepPrompts(store, questionsOf(["q0", "q1"]));
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const order = orderOf({ ensemble: ensembleOf(["a", "b"], "big"), workers: [["a", "b"]], questions: 2 });
const batch: StoredBatch = {
  ...{ id: "b", createdAt: "2026-01-01T00:00:00.000Z", endedAt: null, actor: "ann", clusterId: "embedded", promptSetId: "set" },
  ...{ order, state: "running", pause: null },
};
const call = (position: number, model: string, change: Partial<StoredBatchCall> = {}): StoredBatchCall => ({
  ...{ batchId: "b", stage: "experts", position, model, state: "done", attempts: 1, lost: 0, at: "", engine: "e" },
  ...{ inputTokens: 1, outputTokens: 1, seconds: 1, failure: null, vote: "A", answer: "it is A" },
  ...change,
});

it("tells of batches without reading their orders, and of those that are not over", () => {
  store.batches.insert(batch);
  expect(store.batches.list()).toEqual([
    {
      ...{ id: "b", createdAt: batch.createdAt, endedAt: null, actor: "ann", clusterId: "embedded", promptSetId: "set", state: "running" },
      ...{ pause: null, name: "nightly", ensemble: "panel", questions: 2, emulated: true },
    },
  ]);
  expect([store.batches.runningOn("embedded"), store.batches.openOn("set"), store.batches.runningOn("other")]).toEqual([
    "nightly",
    ["nightly"],
    null,
  ]);
  store.batches.setState("b", "done", null);
  expect([store.batches.runningOn("embedded"), store.batches.openOn("set"), store.batches.open()]).toEqual([null, [], []]);
  expect(store.batches.get("b")?.endedAt).not.toBeNull();
});

it("counts calls that were under way as lost, once, and has them made again", () => {
  store.batches.insert(batch);
  const underWay = { state: "asked", vote: null, answer: null } as const;
  store.batches.saveCalls("b", [
    call(0, "a"),
    call(1, "a", underWay),
    call(1, "big", { ...underWay, stage: "aggregator" }),
    call(2, "a", underWay),
  ]);
  store.batches.loseAsked("b", 0, 2);
  store.batches.loseAsked("b", 0, 2);
  const told = (from: number, before: number) =>
    store.batches
      .callsBetween("b", from, before)
      .map(({ position, model, state, lost }) => `${position} ${model} ${state} ${lost}`)
      .toSorted();
  expect(told(0, 3)).toEqual(["0 a done 0", "1 a waiting 1", "1 big waiting 1", "2 a asked 0"]);
  expect(told(2, 3)).toEqual(["2 a asked 0"]);
});

it("keeps votes and no texts of prompts that were deleted, also where an answer comes afterwards, and forgets all of a batch", () => {
  store.batches.insert(batch);
  store.batches.saveCalls("b", [call(0, "a")]);
  store.erasing(() => {
    store.batches.dropAnswersOf("set");
    store.prompts.deleteTexts("set");
  });
  store.batches.saveCalls("b", [call(0, "b")]);
  expect(store.batches.answersBetween("b", 0, 2).map(({ vote, answer }) => [vote, answer])).toEqual([
    ["A", null],
    ["A", null],
  ]);
  store.batches.remove("b");
  expect([store.batches.has("b"), store.batches.answersBetween("b", 0, 2)]).toEqual([false, []]);
});
