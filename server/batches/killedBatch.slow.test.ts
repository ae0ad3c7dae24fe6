import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { batchStudio, ensembleOf, keepCluster, orderOf, panelOutcomes, questionsOf } from "./testing/testBatchStudio";
import { runKilled } from "./testing/testKills";

const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
const QUESTIONS = 60;
const concurrency = 4;
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let studio: Awaited<ReturnType<typeof batchStudio>>;
beforeAll(async () => {
  [cluster, studio] = await Promise.all([startTestCluster({ timeScale: 40, gpus: 2 }), batchStudio()]);
  await emulatorOf(cluster).replay(panelOutcomes(ids, experts, aggregator));
  keepCluster(cluster.store, 2);
  keepPrompts(cluster.store, questionsOf(ids));
});
afterAll(async () => {
  studio?.clear();
  await cluster?.stop();
});

it("loses no question and asks none twice, killed while it loads, answers and aggregates", { timeout: 120_000 }, async () => {
  const id = "0a1b2c3d-0000-4000-8000-000000000000";
  const order = orderOf({
    ensemble: ensembleOf(experts, aggregator),
    workers: [experts.slice(0, 2), [experts[2] ?? "", experts[0] ?? ""]],
    aggregators: [0, 1],
    questions: QUESTIONS,
    request: { concurrency },
  });
  const killed = await runKilled(cluster, studio, {
    ...{ id, order },
    kills: [({ loading }) => loading > 0, (progress) => progress.experts >= 70, (progress) => progress.aggregator >= 8],
  });
  const { store } = cluster;
  expect(store.batches.get(id)).toMatchObject({ state: "done" });
  expect(killed).toMatchObject({ killed: 3, twice: 0, calls: 3 * QUESTIONS + 20, resultIds: ids });
  expect(killed.lost).toBeGreaterThan(0);
  expect(killed.lost).toBeLessThanOrEqual(2 * 2 * concurrency);
  // A lost call may or may not have been answered.
  expect(killed.answeredAtLeast).toBeLessThanOrEqual(killed.calls + killed.lost);
  expect(killed.answeredAtMost).toBeGreaterThanOrEqual(killed.calls);
  expect(store.batches.callsBetween(id, 0, QUESTIONS).reduce((sum, { lost }) => sum + lost, 0)).toBe(killed.lost);
  expect((await emulatorOf(cluster).read()).engines).toEqual([]);
});
