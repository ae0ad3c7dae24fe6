import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { batchRequestSchema } from "@/server/contracts/studio/batches";
import type { PlaceRequest } from "@/server/contracts/studio/ensembles";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { placeTask } from "./placeTask";

const experts = ["qwen2.5-3b", "qwen2.5-7b"];

let folder = "";
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-place-task-"));
  store = openStore(folder);
  const column = { answers: ["A", "B"], correct: Uint8Array.of(1, 0), outputTokens: Int32Array.of(10, 20), asked: Uint8Array.of(1, 1) };
  store.answerSamples.insert(
    { ...{ id: "s", name: "two", createdAt: "", actor: "ada", questions: 2, models: [], categories: [] }, origin: "uploaded", notes: [] },
    { questionIds: ["a", "b"], models: experts.map((model) => ({ ...column, model })) },
  );
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

async function asked(change: Partial<PlaceRequest>) {
  const ensemble = ensembleSchema.parse({
    ...{ name: "vote", experts, expertsPerQuestion: 2, aggregator: { model: "qwen2.5-7b" } },
    ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, tau: 1, quorum: 2, deadlineSeconds: 60 },
  });
  const request: PlaceRequest = {
    ...{ ensemble, gpu: "l40s", workers: 2, gpusPerWorker: 1, maxModelsPerWorker: 2, replicas: "amortised", questions: 100 },
    ...{ lengths: { kind: "sample", sampleId: "s" }, storage: "local-nvme" },
    ...change,
  };
  const { signal } = new AbortController();
  const made = await placeTask(request, { store, uploads: { open: () => null }, cards: catalogueOf(noUserCards), signal });
  if (!made.ok) throw new Error(made.message);
  return made;
}

it("has as many requests in flight as a batch that asks for no number, and says so", async () => {
  const { task, notes } = await asked({});
  const batch = batchRequestSchema.parse({
    ...{ name: "n", clusterId: "c", promptSetId: "s", ensemble: "vote", workers: 1, gpusPerWorker: 1, maxModelsPerWorker: null },
  });
  expect(task.concurrency).toBe(batch.concurrency);
  expect(notes.join(" ")).toContain(`${batch.concurrency} requests in flight`);
});

it("reads off a batch's prompts what they themselves allow answers", async () => {
  const body = (own: object) => ({ messages: [{ role: "user", content: "Which?" }], ...own });
  const limits = [{ max_tokens: 50 }, {}, { max_completion_tokens: 70, max_tokens: 9 }, { max_tokens: 0 }];
  keepPrompts(
    store,
    limits.map((own, at) => ({ id: `q${at}`, category: "", atMs: null, test: null, reference: null, body: body(own) })),
  );
  expect((await asked({ promptSetId: "set" })).task.ownLimits).toEqual([50, null, 70, null]);
  expect((await asked({})).task.ownLimits).toEqual([]);
});

it.each([
  [2, 1, [2]],
  [20, 1, [8, 8, 4]],
  [3, 4, [8, 4]],
  [5, 8, [8, 8, 8, 8, 8]],
  [3, 16, [16, 16, 16]],
])("takes %i workers of %i GPUs to be on nodes of eight, none of them on two", async (workers, gpusPerWorker, nodes) => {
  expect((await asked({ workers, gpusPerWorker })).task.gpusByNode).toEqual(nodes);
});
