import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sampleSummary } from "@/server/api/ensembles/sampleSummary";
import type { AnswerSampleSummary } from "@/server/contracts/studio/ensembles";
import { openStore, type Store } from "@/server/store/store";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { batchLengths } from "./batchLengths";
import { expectedShare, fittingSamples } from "./fittingSamples";
import { ensembleOf } from "./testing/testBatchStudio";

const ensemble = ensembleOf(["a", "b"], "c");
const { signal } = new AbortController();

let folder = "";
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-fitting-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

interface Kept {
  readonly models?: readonly string[];
  readonly questions?: number;
  readonly tokens?: number;
  /** Number of its first questions, on which the models' votes differ. */
  readonly split?: number;
}

/** Each is newer than those before. */
function keep(
  name: string,
  origin: AnswerSampleSummary["origin"],
  { models = ["a", "b"], questions = 10, tokens = 100, split = 0 }: Kept = {},
): void {
  const places = Array.from({ length: questions }, (_, at) => at);
  const sample = {
    questionIds: places.map((at) => `q${at}`),
    models: models.map((model) => ({
      ...{ model, answers: places.map((at) => (at < split ? model : "same")), correct: new Uint8Array(questions) },
      ...{ outputTokens: new Int32Array(questions).fill(tokens), asked: new Uint8Array(questions).fill(1) },
    })),
  };
  const createdAt = new Date(store.answerSamples.list().length).toISOString();
  store.answerSamples.insert({ id: name, name, createdAt, actor: "ada", origin, notes: [], ...sampleSummary(sample) }, sample);
}

async function fitting(emulated: boolean) {
  const found: { readonly name: string; readonly sample: AnswerSample }[] = [];
  for await (const read of fittingSamples({ ensemble, emulated, signal }, store)) {
    if (!read.ok) throw new Error(read.message);
    found.push(read);
  }
  return found;
}

const names = async (emulated: boolean) => (await fitting(emulated)).map(({ name }) => name);

it("are real ones for real engines and those of a model for emulated ones, newest first, with all experts' answers", async () => {
  keep("uploaded", "uploaded");
  keep("modelled", "modelled");
  keep("of others", "uploaded", { models: ["a", "c"] });
  keep("night", "batch", { models: ["c", "b", "a"] });
  keep("tried", "emulated");
  expect(await names(false)).toEqual(["night", "uploaded"]);
  expect(await names(true)).toEqual(["tried", "modelled"]);
});

it("tell how long answers are and how often the aggregator is asked, both of the same kind of engines", async () => {
  keep("real", "uploaded", { tokens: 3000, split: 4 });
  keep("tried", "emulated", { tokens: 10, split: 1 });
  for (const [emulated, name, tokens, share] of [
    [false, "real", 3000, 0.4],
    [true, "tried", 10, 0.1],
  ] as const) {
    const asked = { ensemble, emulated, signal };
    expect(await batchLengths({ ...asked, clusterId: "none", replayed: null }, store)).toMatchObject({
      ok: true,
      lengths: { lengthsSource: expect.stringContaining(`the sample "${name}"`), lengths: { a: { outputTokens: { 0: tokens } } } },
    });
    expect(await expectedShare(asked, store)).toEqual({ ok: true, expected: { share, source: `the sample "${name}"` } });
  }
});

it("are read out of a thread where they are large, a few thousand questions that are spread over all of them", async () => {
  keep("large", "uploaded", { questions: 9000, split: 4500 });
  const [large] = await fitting(false);
  const { questionIds, models } = large!.sample;
  expect(questionIds).toHaveLength(4000);
  expect([questionIds[0], questionIds[2000], questionIds[3999]]).toEqual(["q0", "q4500", "q8997"]);
  expect(models.map(({ answers }) => [answers[1999], answers[2000]])).toEqual([
    ["a", "same"],
    ["b", "same"],
  ]);
  expect(await expectedShare({ ensemble, emulated: false, signal }, store)).toMatchObject({ expected: { share: 0.5 } });
  const leaving = new AbortController();
  const asked = expectedShare({ ensemble, emulated: false, signal: leaving.signal }, store);
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
});
