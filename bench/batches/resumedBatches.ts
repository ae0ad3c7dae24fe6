import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
  batchesOver,
  ensembleOf,
  hostOf,
  keepCluster,
  letterOf,
  orderOf,
  panelOutcomes,
  questionsOf,
} from "@/server/batches/testing/testBatchStudio";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import type { StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { atMost, type Benchmark } from "../lib/benchmark";

const QUESTIONS = 20_000;
const ROUNDS = 3;
const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);
const text = "Let me think about this step by step, and say what comes of it. ".repeat(20);
const createdAt = "2026-01-01T00:00:00.000Z";
const order = orderOf({
  ensemble: ensembleOf(experts, aggregator),
  workers: [experts.slice(0, 2), [experts[2] ?? "", experts[0] ?? ""]],
  aggregators: [0, 1],
  questions: QUESTIONS,
});

/** A batch to all of whose questions the experts have answered; every third splits them. Once it is complete the aggregator has, too. */
function keepAnswered(store: Store, id: string, state: "running" | "done"): void {
  const endedAt = state === "done" ? createdAt : null;
  const row: StoredBatch = { id, createdAt, endedAt, actor: "a", clusterId: "embedded", promptSetId: "set", order, state, pause: null };
  store.batches.insert(row);
  const call = (stage: StoredBatchCall["stage"], position: number, model: string): StoredBatchCall => {
    const vote = letterOf(model === experts.at(-1) && position % 3 === 0 ? position + 1 : position);
    return {
      ...{ batchId: id, stage, position, model, state: "done", attempts: 1, lost: 0, at: createdAt, engine: `${stage} ${model}` },
      ...{ inputTokens: 200, outputTokens: 300, seconds: 3, failure: null, vote, answer: `${text}\nAnswer: ${vote}` },
    };
  };
  for (const [position] of ids.entries()) {
    const asked = experts.map((model) => call("experts", position, model));
    store.batches.saveCalls(id, endedAt !== null && position % 3 === 0 ? [...asked, call("aggregator", position, aggregator)] : asked);
  }
}

interface Pause {
  readonly longestMs: number;
  readonly tookMs: number;
}

/** The longest block of the event loop until a batch was read. */
async function pauseOf(begin: () => string, batches: ReturnType<typeof batchesOver>): Promise<Pause> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = performance.now();
  const id = begin();
  while (batches.get(id)?.progress.questionsRead !== null) await sleep(5);
  const tookMs = performance.now() - began;
  // The batch's first work after reading counts too.
  await sleep(200);
  delay.disable();
  return { longestMs: delay.max / 1e6, tookMs };
}

const worst = (pauses: readonly Pause[]): Pause => pauses.reduce((a, b) => (a.longestMs >= b.longestMs ? a : b));

const resumed: Benchmark = {
  name: "batches resumed, longest pause of the studio",
  budget: atMost(50, "all answers of a batch are read or counted in one go on the main thread"),
  async run() {
    const cluster = await startTestCluster({ timeScale: 40, gpus: 2 });
    const { store } = cluster;
    const [ended, left] = ["00000001-0000-4000-8000-000000000000", "00000002-0000-4000-8000-000000000000"];
    const over = async (measure: (batches: ReturnType<typeof batchesOver>) => Promise<Pause>): Promise<Pause> => {
      const pauses: Pause[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const batches = batchesOver(store, hostOf(cluster));
        pauses.push(await measure(batches));
        await batches.close();
      }
      return worst(pauses);
    };
    try {
      await emulatorOf(cluster).replay(panelOutcomes(ids, experts, aggregator));
      keepCluster(store, 2);
      keepPrompts(
        store,
        questionsOf(ids, (id) => letterOf(Number(id.slice(1)))),
      );
      keepAnswered(store, ended, "done");
      const looked = await over((batches) =>
        pauseOf(() => {
          batches.get(ended);
          return ended;
        }, batches),
      );
      const begun = await over(async (batches) => {
        let id = "";
        const pause = await pauseOf(() => {
          const started = batches.start(order, "a");
          if (!started.ok) throw new Error(started.message);
          id = started.id;
          return id;
        }, batches);
        await batches.stop(id);
        return pause;
      });
      keepAnswered(store, left, "running");
      const taken = await over((batches) =>
        pauseOf(() => {
          batches.resumeAll();
          return left;
        }, batches),
      );
      const text = ({ longestMs, tookMs }: Pause): string => `${longestMs.toFixed(0)} ms in ${(tookMs / 1000).toFixed(2)} s`;
      return {
        figure: worst([looked, begun, taken]).longestMs,
        unit: "ms",
        detail: `${QUESTIONS} questions of ${experts.length} experts, worst of ${ROUNDS} each: resumed with all answers of experts on disk ${text(taken)}, one that is over looked at ${text(looked)}, begun ${text(begun)}`,
      };
    } finally {
      await cluster.stop();
    }
  },
};

/** Large batches, resumed where they stopped. */
export const resumedBatchBenchmarks: readonly Benchmark[] = [resumed];
