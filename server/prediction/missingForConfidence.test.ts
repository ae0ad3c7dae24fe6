import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Prompt } from "@/server/contracts/studio";
import { keepProfile, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { generatedWorkload } from "@/solver/workload/generated";
import { missingForConfidence } from "./missingForConfidence";
import { train } from "./trainingTask";

let folder: string;
let store: Store;
let id: string;
const workload = generatedWorkload({ prompts: 40, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-missing-"));
  store = openStore(folder);
  const prompts = workload.outcomes.promptIds.map((promptId, at): Prompt => {
    const body = { messages: [{ role: "user", content: `question ${at}` }] };
    return { id: promptId, category: "", atMs: null, reference: null, test: null, body };
  });
  const profileId = keepProfile(store, keepPrompts(store, prompts), {
    ...{ models: [], measures: [], concurrency: 1, requestsPerMinute: null, capUsd: null, maxOutputTokens: 10, keepAnswers: false },
  });
  id = storeWorkload(store, workload, { profileId });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

it("names the predictor until one is trained, also for the same prompts with other arrivals, and keeps it when texts are deleted", async () => {
  const later = storeWorkload(store, { ...workload, arrivalSeconds: Float64Array.of(0, 1, 2) }, { parentId: id });
  expect([missingForConfidence(store, id), missingForConfidence(store, later)]).toEqual([["no-predictor"], ["no-predictor"]]);
  const request = { train: "confidence", workloadId: id } as const;
  const { bytes, scores, ...trained } = await train({ file: store.file, request }, store, () => undefined);
  store.artefacts.insert({ ...trained, hash: "h", createdAt: new Date(0).toISOString(), actor: "ada" }, bytes);
  expect(missingForConfidence(store, id)).toEqual(["no-predictor"]);
  if (scores === undefined) throw new Error("no scores");
  store.artefacts.keepScores("h", scores);
  store.prompts.deleteTexts("set");
  expect([missingForConfidence(store, id), missingForConfidence(store, later)]).toEqual([[], []]);
  store.artefacts.remove("h");
  expect(missingForConfidence(store, id)).toEqual(["no-predictor", "no-texts"]);
});

it("names the texts too where a workload came as a table, or is not stored", () => {
  const table = storeWorkload(store, generatedWorkload({ prompts: 40, seed: 2 }));
  for (const workloadId of [table, "unknown"]) expect(missingForConfidence(store, workloadId)).toEqual(["no-predictor", "no-texts"]);
});
