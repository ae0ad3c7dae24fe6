import { batchStudio, ensembleOf, keepCluster, orderOf, panelOutcomes, questionsOf } from "@/server/batches/testing/testBatchStudio";
import { type Killed, runKilled } from "@/server/batches/testing/testKills";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { seededRandom } from "@/solver/numeric/random";
import { atMost, type Benchmark } from "../lib/benchmark";
import { writeTables } from "../lib/results";

const RUNS = 20;
const QUESTIONS = 150;
/** Long enough that most of a batch is answering, not loading. */
const TOKENS = 250;
const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);

interface Run extends Killed {
  readonly atSeconds: number;
}

/** Calls without a result and results that are duplicated or missing. */
const missingOf = ({ calls, resultIds }: Killed): number => {
  const split = ids.filter((_, at) => at % 3 === 0).length;
  return (
    Math.abs(experts.length * QUESTIONS + split - calls) + ids.filter((id) => resultIds.filter((one) => one === id).length !== 1).length
  );
};

/**
 * Answers beyond the required and the lost ones, by the engines' own counts, and calls that were started again without having been lost.
 */
const twiceOf = ({ twice, answeredAtLeast, calls, lost }: Killed): number => twice + Math.max(0, answeredAtLeast - calls - lost);

const killed: Benchmark = {
  name: "batch kills, questions lost or asked twice without need",
  budget: atMost(0, "an answer is used before it is on disk, or is on disk and is asked for again"),
  async run() {
    const [cluster, studio] = await Promise.all([startTestCluster({ timeScale: 40, gpus: 2 }), batchStudio()]);
    try {
      await emulatorOf(cluster).replay(panelOutcomes(ids, experts, aggregator, TOKENS));
      keepCluster(cluster.store, 2);
      keepPrompts(cluster.store, questionsOf(ids));
      const order = orderOf({
        ensemble: ensembleOf(experts, aggregator),
        workers: [experts.slice(0, 2), [experts[2] ?? "", experts[0] ?? ""]],
        aggregators: [0, 1],
        questions: QUESTIONS,
        request: { concurrency: 4 },
      });
      const idOf = (run: number): string => `${run.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
      const undisturbed = await runKilled(cluster, studio, { id: idOf(0), order, kills: [] });
      const random = seededRandom(12);
      const runs: Run[] = [];
      let over = 0;
      for (let id = 1; runs.length < RUNS && over < RUNS; id += 1) {
        const atSeconds = random.next() * undisturbed.seconds;
        const beganMs = performance.now();
        const isDue = (): boolean => performance.now() - beganMs >= atSeconds * 1000;
        const run = await runKilled(cluster, studio, { id: idOf(id), order, kills: [isDue] });
        // Runs differ in length: one that ended before its kill point is drawn again.
        if (run.killed > 0) runs.push({ atSeconds, ...run });
        else over += 1;
      }
      const sum = (of: (run: Run) => number): number => runs.reduce((all, run) => all + of(run), 0);
      const header = "| run | killed at | under way, asked again | results missing | made twice | took |\n|---|---|---|---|---|---|\n";
      const lines = runs.map(
        (run, at) =>
          `| ${at + 1} | ${run.atSeconds.toFixed(2)} s | ${run.lost} | ${missingOf(run)} | ${twiceOf(run)} | ${run.seconds.toFixed(1)} s |\n`,
      );
      writeTables("batch-kills", [header + lines.join("")]);
      const detail = [
        `${runs.length} batches of ${QUESTIONS} questions by ${experts.length} experts and an aggregator on 2 workers, each killed with -9 at a random point of ${undisturbed.seconds.toFixed(1)} s`,
        `${sum(({ lost }) => lost)} calls under way were lost and asked again, ${sum(missingOf)} results are missing, ${sum(twiceOf)} calls were made twice`,
      ];
      // Runs that ended before their kill show nothing.
      const figure = runs.length < RUNS ? Number.NaN : sum(missingOf) + sum(twiceOf);
      return { figure, unit: "questions", detail: detail.join("; ") };
    } finally {
      studio.clear();
      await cluster.stop();
    }
  },
};

/** Batches whose studio is killed during the run. */
export const batchKillBenchmarks: readonly Benchmark[] = [killed];
