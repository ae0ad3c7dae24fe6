import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import { batchesOver, ensembleOf, hostOf, keepCluster, letterOf, orderOf, panelOutcomes, questionsOf } from "./testing/testBatchStudio";

const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
const ids = Array.from({ length: 12 }, (_, at) => `q${at}`);

/** Longer than any engine's context. */
const TOO_LONG = 5_000_000;
/** More than any engine writes in the available time. */
const TOO_MUCH = 100_000;

/** Experts give three letters to questions 7 and 8: the aggregator never ends its answer to the first, and gives no letter to the other. */
const isEndless = (model: string, at: number): boolean => (model === experts[2] && at === 2) || (model === aggregator && at === 7);

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let batches: ReturnType<typeof batchesOver>;
beforeAll(async () => {
  cluster = await startTestCluster({ timeScale: 40, gpus: 3 });
  const sound = panelOutcomes(ids, experts, aggregator);
  await emulatorOf(cluster).replay({
    ...sound,
    inputTokens: ids.map((id) => (id === "q1" ? TOO_LONG : 50)),
    models: sound.models.map((one) => ({
      ...one,
      // The last expert never ends its answer to one question, and the first gives no letter to two others.
      outputTokens: one.outputTokens.map((tokens, at) => (isEndless(one.model, at) ? TOO_MUCH : tokens)),
      answer: (one.answer ?? []).map((answer, at) => {
        if (at === 7 || at === 8) return one.model === aggregator ? "none of these" : ("ABC"[experts.indexOf(one.model)] as string);
        return one.model === experts[0] && (at === 4 || at === 5) ? "none of these" : answer;
      }),
    })),
  });
  keepCluster(cluster.store, 3);
  keepPrompts(
    cluster.store,
    questionsOf(ids, (id) => letterOf(ids.indexOf(id))),
  );
  batches = batchesOver(cluster.store, hostOf(cluster));
});
afterAll(async () => {
  await batches?.close();
  await cluster?.stop();
});

it("counts questions that are refused, that run out of time and off which nothing can be read, and ends all the same", async () => {
  const order = orderOf({
    ensemble: ensembleOf(experts, aggregator, { tau: 2 / 3 }),
    workers: experts.map((model) => [model]),
    questions: ids.length,
    request: { timeoutSeconds: 2, attempts: 2 },
  });
  const started = batches.start(order, "ann");
  if (!started.ok) throw new Error(started.message);
  await until(() => batches.get(started.id)?.state !== "running");
  const batch = batches.get(started.id);
  expect(batch).toMatchObject({ state: "done", pause: null });
  expect(batch?.progress).toMatchObject({
    expertAnswers: { asked: 36, done: 32, failed: 4 },
    questions: { unanswered: 1, open: 0 },
    noVote: 3,
    failures: [
      { failure: "refused (answered 400)", calls: 4 },
      { failure: "timed out", calls: 2 },
    ],
    retried: 2,
  });
  const results = [...(batches.results(started.id) ?? [])];
  expect(results.map(({ id }) => id)).toEqual(ids);
  expect(results[1]).toMatchObject({ verdict: "unanswered", answer: null, text: null, votes: "0", confidence: 0, correct: false });
  expect(results[1]?.experts.map(({ failure }) => failure)).toEqual(experts.map(() => "refused (answered 400)"));
  expect(results[2]).toMatchObject({ verdict: "skipped", votes: "2:0", answer: letterOf(2), correct: true });
  expect(results[2]?.experts[2]).toMatchObject({ vote: null, text: null, failure: "timed out" });
  // An expert without a readable vote counts against agreement, like one that failed.
  expect(results[4]).toMatchObject({ verdict: "skipped", votes: "2:0", confidence: expect.closeTo(2 / 3) });
  expect(results[4]?.experts[0]).toMatchObject({ vote: null, text: expect.stringContaining("none of these"), failure: null });
  const ofAggregator = results.map((result) => result.aggregator);
  const unasked = [2, 4, 5].map((at) => ofAggregator[at]);
  expect(unasked).toEqual([null, null, null]);
  const failed = { model: aggregator, vote: null, text: null, outputTokens: null };
  expect(ofAggregator[1]).toEqual({ ...failed, failure: "refused (answered 400)" });
  // The experts' leading answer replaces the missing one.
  expect(results[7]).toMatchObject({ verdict: "aggregated", votes: "1:1:1", answer: "A", aggregator: { ...failed, failure: "timed out" } });
  expect(results[7]?.text).toBe(results[7]?.experts[0]?.text);
  expect(results[8]).toMatchObject({ verdict: "aggregated", votes: "1:1:1", answer: null, correct: false });
  expect(ofAggregator[8]).toEqual({
    ...{ model: aggregator, vote: null, text: results[8]?.text, outputTokens: expect.any(Number), failure: null },
  });
  expect(ofAggregator[8]?.text).toContain("none of these");
  expect(batch?.accuracy).toEqual({ right: 9, questions: 12 });
  expect((await emulatorOf(cluster).read()).engines).toEqual([]);
});

it("is not begun where votes cannot be read as they are to be", () => {
  const ensemble = ensembleOf(experts, aggregator, { extraction: { kind: "pattern", pattern: "(" } });
  expect(batches.start(orderOf({ ensemble, workers: [experts], questions: 1 }), "ann")).toMatchObject({
    ok: false,
    message: expect.stringContaining("("),
  });
  expect(batches.list()).toHaveLength(1);
});
