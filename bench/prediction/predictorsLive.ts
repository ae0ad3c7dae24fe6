import { createHash } from "node:crypto";
import { quantile } from "@/solver/numeric/quantile";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { cascadeModel, mockedBy, openedBefore, openLoopLatencies, startBenchGateway, startMock } from "../gateway/gatewayBench";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { trained } from "./trained";

const LOAD = { model: cascadeModel, stream: false, perSecond: 50, seconds: 4 };
const ROUNDS = 5;

/** Half the cost of predictions in the ablations on the simulator, which assume 5 ms each for lengths and confidence. */
const MOST_MS = 5;

/** Slack dispatch over these models, the shortest program first. */
const slackOver = (models: readonly string[], learnt: SlackPolicy["learnt"]): SlackPolicy => ({
  kind: "slack",
  models: models.map((model) => ({ model, decodeSecondsPerToken: 0.02, maxBatchSize: 64, confidence: 0.5 })),
  ...{ tau: 1, deltaScore: 0.1, floorSeconds: 1, order: { kind: "stjf", agingThreshold: 1000 }, place: { kind: "least-load" } },
  ...(learnt === undefined ? {} : { learnt }),
  approvedRanges: { tau: { min: 0, max: 4 }, deltaScore: { min: 0, max: 1 } },
});

/** The same requests under the same policy with and without predictors, in alternating rounds. */
async function added(): Promise<Measurement> {
  const { lengths, confidence } = await trained();
  const artefacts = [encodeArtefact(lengths), encodeArtefact(confidence)];
  const [lengthHash = "", confidenceHash = ""] = artefacts.map((bytes) => createHash("sha256").update(bytes).digest("hex"));
  const learnt = { lengths: lengthHash, confidence: confidenceHash };
  const mock = await startMock();
  const without = await startBenchGateway(slackOver(lengths.models, undefined), mockedBy(mock.url));
  const live = await startBenchGateway(slackOver(lengths.models, learnt), { ...mockedBy(mock.url), artefacts });
  try {
    const rounds: { readonly without: readonly number[]; readonly live: readonly number[] }[] = [];
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const one = { without: await openLoopLatencies(without.url, LOAD), live: await openLoopLatencies(live.url, LOAD) };
      if (round > 0) rounds.push(one);
    }
    const predicted = await live.metric('weir_gateway_predictions_total{outcome="predicted"}');
    const of = (which: "without" | "live", q: number): number =>
      quantile(
        rounds.map((round) => quantile(round[which], q)),
        0.5,
      );
    const more = quantile(
      rounds.map((round) => quantile(round.live, 0.5) - quantile(round.without, 0.5)),
      0.5,
    );
    const asked = (ROUNDS + 1) * (openedBefore + LOAD.perSecond * LOAD.seconds);
    return {
      figure: more,
      unit: "ms",
      detail: `slack dispatch over ${lengths.models.length} models by lengths and confidence learnt of real answers, ${LOAD.perSecond} requests/s, prompts of some 200 tokens, median of ${ROUNDS} rounds: p50 ${of("live", 0.5).toFixed(2)} ms with predictors and ${of("without", 0.5).toFixed(2)} without, p99 ${of("live", 0.99).toFixed(1)} and ${of("without", 0.99).toFixed(1)}; ${Math.round((100 * predicted) / asked)} % of the requests were predicted in time`,
    };
  } finally {
    await Promise.all([mock.close(), without.close(), live.close()]);
  }
}

/** Cost per request of active predictors; nothing where the answers to train on are not available. */
export const predictorsLiveBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: "gateway added latency with predictors live, p50",
        budget: atMost(MOST_MS, "predictions wait for a thread or for each other"),
        run: added,
      },
    ]
  : [];
