import { once } from "node:events";
import type { startTestCluster } from "@/server/clusters/testing/testCluster";
import { until } from "@/server/profiling/testing/testProfileStudio";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { batchResults } from "../batchResults";
import { answeredBy, type batchStudio } from "./testBatchStudio";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** Progress of a batch, from its store. */
export interface Progress {
  readonly experts: number;
  readonly aggregator: number;
  readonly loading: number;
}

/** The findings after the end of a batch that was killed repeatedly. */
export interface Killed {
  readonly killed: number;
  /** Calls that were in flight at a kill, and were repeated. */
  readonly lost: number;
  /** Calls with more attempts than one plus one for each kill during which they were in flight. */
  readonly twice: number;
  readonly calls: number;
  /** By the engines' own counts, without the one-token request at each start. */
  readonly answeredAtMost: number;
  readonly answeredAtLeast: number;
  readonly resultIds: readonly string[];
  readonly seconds: number;
}

/**
 * Stores a batch of a cluster as if a user had started it, runs it in processes that are killed at each of these points, and then in one
 * that is not.
 */
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
