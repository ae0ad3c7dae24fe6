import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { ensembleOf, keepCluster, orderOf, questionsOf } from "@/server/batches/testing/testBatchStudio";
import { ensembleLengths, sampleLengths } from "@/server/planning/ensembles/ensembleLengths";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { decodeSample } from "@/server/store/answerSampleCodec";
import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { openStore, type Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { aggregatedShare } from "@/solver/ensemble/replay/aggregatedShare";
import { createEnsembleSamples } from "./ensembleSamples";

const experts = ["gemma-2-2b", "qwen2.5-3b"];
const panel = ensembleOf(experts, "qwen2.5-7b");
const ids = Array.from({ length: 10 }, (_, at) => `q${at}`);
/** Experts disagree on these. */
const isSplit = (position: number): boolean => position % 2 === 0;

let folder = "";
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-samples-"));
  store = openStore(folder);
  keepCluster(store);
  keepPrompts(
    store,
    questionsOf(ids, () => "A"),
  );
});
beforeEach(() => {
  for (const { id } of store.batches.list()) store.batches.remove(id);
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

type Holds = (position: number, model: string) => boolean;

/**
 * A batch that was stopped before its aggregator was called.
 * @param isOut whether an expert had not answered yet.
 */
function keepStopped(order: BatchOrder, isOut: Holds, isFailed: Holds = () => false): void {
  const row = {
    id: "b",
    createdAt: "2026-01-01T00:00:00.000Z",
    endedAt: null,
    actor: "a",
    clusterId: "embedded",
    promptSetId: "set",
    order,
  };
  store.batches.insert({ ...row, state: "running", pause: null });
  const calls = order.sessions.flat().flatMap(({ model, positions }) =>
    positions.map((position): StoredBatchCall => {
      const isWrong = model === experts[1] && isSplit(position);
      const row = { batchId: "b", stage: "experts", position, model, attempts: 1, lost: 0, at: "", engine: null, failure: null } as const;
      const answered = { vote: isWrong ? "B" : "A", answer: "", inputTokens: 1, outputTokens: 7, seconds: 1 };
      const nothing = { vote: null, answer: null, inputTokens: null, outputTokens: null, seconds: null };
      if (isFailed(position, model)) return { ...row, ...nothing, state: "failed", failure: "no answer within 600 s" };
      return isOut(position, model) ? { ...row, ...nothing, state: "asked" } : { ...row, ...answered, state: "done" };
    }),
  );
  store.batches.saveCalls("b", calls);
  store.batches.setState("b", "stopped", null);
}

const keep = () => {
  const samples = createEnsembleSamples({ store, uploads: createUploads(join(folder, "uploads")) });
  return samples.keepSample({ name: "stopped's", source: { kind: "batch", batchId: "b" } }, "ada");
};

it("take of a batch that was stopped before its aggregator the questions that experts disagree on, too, and say what was still out", async () => {
  keepStopped(orderOf({ ensemble: panel, workers: [experts], questions: 10 }), (position, model) => position === 9 && model === experts[1]);
  const made = await keep();
  const kept = made.ok ? store.answerSamples.stored(made.id) : expect.fail(made.message);
  const sample = kept && decodeSample(kept.data);
  expect(sample?.questionIds).toEqual(ids.slice(0, 9));
  expect(sample && aggregatedShare(panel, sample)).toBeCloseTo(5 / 9);
  expect(kept?.summary.models.map(({ accuracy }) => accuracy)).toEqual([1, expect.closeTo(4 / 9)]);
  expect(kept?.summary.notes.join(" ")).toContain("1 of 10 questions were left out: it was stopped before");
});

it("leave out calls of experts that failed, whose answers would be none of no length, and say how many they were", async () => {
  keepStopped(
    orderOf({ ensemble: panel, workers: [experts], questions: 10 }),
    () => false,
    (position, model) => position === 3 || (position === 4 && model === experts[0]),
  );
  const made = await keep();
  const kept = made.ok ? store.answerSamples.stored(made.id) : expect.fail(made.message);
  const sample = decodeSample(kept?.data ?? expect.fail("it is not kept"));
  // The fourth question has no answer.
  expect(sample.questionIds).toEqual(ids.filter((_, position) => position !== 3));
  expect(sample.models.map(({ asked }) => [...asked])).toEqual([
    [1, 1, 1, 0, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 1, 1, 1, 1],
  ]);
  const lengths = ensembleLengths(panel, sampleLengths("stopped's", sample));
  if (typeof lengths === "string") expect.fail(lengths);
  expect(experts.map((model) => Array.from(lengths.lengths[model]?.outputTokens ?? []))).toEqual([Array(8).fill(7), Array(9).fill(7)]);
  expect(kept?.summary.notes).toContain("Calls of experts that failed and were left out: 3.");
});

it("are not made of a batch that put no question to two experts, on which no gate could be tried", async () => {
  const whole = orderOf({ ensemble: panel, workers: [experts], questions: 10 });
  const sessions = [
    experts.map((model, at) => ({ model, positions: ids.flatMap((_, position) => (position % 2 === at ? [position] : [])) })),
  ];
  keepStopped({ ...whole, sessions }, () => false);
  expect(await keep()).toEqual({ ok: false, message: expect.stringContaining("there is no agreement to try a gate on") });
});
