import { once } from "node:events";
import type { startTestCluster } from "@/server/clusters/testing/testCluster";
import { until } from "@/server/profiling/testing/testProfileStudio";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { batchResults } from "../batchResults";
import { answeredBy, type batchStudio } from "./testBatchStudio";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** How far a batch is, as its store tells. */
export interface Progress {
  readonly experts: number;
  readonly aggregator: number;
  readonly loading: number;
}

/** What was found after a batch that was killed again and again came to its end. */
export interface Killed {
  readonly killed: number;
  /** Calls that were under way at a kill, and were made again. */
  readonly lost: number;
  /** Calls of which more attempts were made than one and one for each kill that they were under way in. */
  readonly twice: number;
  readonly calls: number;
  /** By the engines' own counts, without the token that each is asked for when it is brought up. */
  readonly answeredAtMost: number;
  readonly answeredAtLeast: number;
  readonly resultIds: readonly string[];
  readonly seconds: number;
}

/** Puts a batch into the store of a cluster as if somebody had begun it, has processes run it that are killed at each of these points, and one that is not. */
export async function runKilled(
  cluster: TestCluster,
  studio: Awaited<ReturnType<typeof batchStudio>>,
  { id, order, kills }: { readonly id: string; readonly order: BatchOrder; readonly kills: readonly ((progress: Progress) => boolean)[] },
): Promise<Killed> {
  const { batches } = cluster.store;
  const { clusterId, promptSetId } = order.request;
  const row = { id, createdAt: new Date().toISOString(), endedAt: null, actor: "a", clusterId, promptSetId, order };
  batches.insert({ ...row, state: "running", pause: null });
  const calls = () => batches.callsBetween(id, 0, order.questions);
  const progress = (): Progress => {
    const over = calls().filter(({ state }) => state === "done");
    const done = (stage: string) => over.filter((call) => call.stage === stage).length;
    const loading = batches.sessions(id).filter(({ state }) => state === "loading").length;
    return { experts: done("experts"), aggregator: done("aggregator"), loading };
  };
  const beganMs = performance.now();
  let killed = 0;
  let lost = 0;
  for (const isDue of [...kills, null]) {
    const child = studio.run(cluster);
    const exit = once(child, "exit");
    const isOver = () => batches.list().find((one) => one.id === id)?.state !== "running";
    await until(() => isOver() || isDue?.(progress()) === true, 90_000);
    const wasOver = isOver();
    child.kill("SIGKILL");
    await exit;
    if (!wasOver) killed += 1;
    lost += calls().filter(({ state }) => state === "asked").length;
  }
  const over = calls();
  const { answered, started } = answeredBy(cluster, id);
  return {
    ...{ killed, lost },
    twice: over.filter((call) => call.attempts !== 1 + call.lost).length,
    calls: over.length,
    ...{ answeredAtMost: answered, answeredAtLeast: answered - started },
    resultIds: [...batchResults({ id, promptSetId, order }, cluster.store)].map((result) => result.id),
    seconds: (performance.now() - beganMs) / 1000,
  };
}
