import { errorBand } from "@/solver/calibration/predictServing";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { mean, quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Predictions, StagePrediction } from "@/solver/plan/plan";
import { costUsdPerRequest } from "../choose/allocate";
import { usdPerHour } from "../deploy/deployedStage";
import type { Finalist } from "../deploy/finalist";
import { measuredRequests, type Paced, predictionBand, predictionSpan, statistic } from "../deploy/predictionBand";
import { stageExtrapolations } from "../deploy/stageExtrapolations";
import { stageStability } from "../deploy/stageStability";
import { pacedSeconds } from "../deploy/wholeSimulation";
import type { PlanningSituation } from "../explore/situation";
import { judgementsOf } from "../routing/routing";
import { routedIntervals } from "../routing/uncertainty";
import { hostedUses } from "../tables/hostedStages";
import { judgeOutlooks } from "./judgeOutlook";
import { type Noted, planNotes } from "./planNotes";
import { planPolicy } from "./planPolicy";

interface Predicted extends Noted, Pick<PlanningSituation, "measuredSeconds"> {
  readonly cluster: ClusterSpec;
  readonly cards: CardCatalogue;
}

/** A plan's predictions: the figures of the whole simulation of its finalist, each with its possible error. */
export function planPredictions(input: Predicted, finalist: Finalist): Predictions {
  const { explorer, cluster, workload, profile } = input;
  const { requestsPerSecond, quantile: q, qualityConfidence, judge } = explorer.input;
  const { routed, qualityLow, thresholds, startBelow } = explorer.routing(finalist.routing);
  const { deployment, kept, endToEndSeconds } = finalist;
  const p95 = statistic(endToEndSeconds, (seconds) => quantile(seconds, q), measuredRequests(requestsPerSecond, input.measuredSeconds));
  const gpus = [...deployment, ...kept].reduce((sum, stage) => sum + stage.gpus, 0);
  const judgements = judgementsOf(routed, thresholds);
  const uses = hostedUses(explorer.input, explorer.routing(finalist.routing));
  const costUsdPerHour = usdPerHour([...deployment, ...kept], cluster) + uses.reduce((sum, use) => sum + use.usdPerHour, 0);
  const interval = routedIntervals(explorer.whole(finalist.routing), {
    confidence: qualityConfidence,
    seed: mixSeed(explorer.input.seed, "intervals"),
  });
  const stages = deployment.map((_, stage) => ({ ...stagePrediction(input, finalist, stage), shareBand: interval.share[stage] }));
  const beyond = stages.some(({ extrapolated = [] }) => extrapolated.length > 0);
  return {
    quality: routed.quality,
    qualityBand: {
      low: qualityLow,
      high: Math.min(100, 2 * routed.quality - qualityLow),
      confidence: qualityConfidence,
      basis: `lower end calibrated to hold for whichever thresholds are picked, from ${routed.exit.length} planning prompts; the upper end mirrors it, and the confidence is of each end on its own`,
    },
    qualityInterval: {
      ...interval.quality,
      confidence: qualityConfidence,
      basis: `${routed.exit.length} planning prompts drawn again with these thresholds as they are; two-sided, like the bands of the shares`,
    },
    p95Seconds: p95.seconds,
    p95Band: predictionBand(p95, profile, {
      extrapolated: beyond,
      nearSaturation: stages.some(({ stability }) => stability === "near-saturation"),
      paced: paced(input, finalist, beyond),
      measured: measuredRequests(requestsPerSecond, input.measuredSeconds),
    }),
    meanSeconds: mean(endToEndSeconds),
    largestStageP95Seconds: Math.max(...stages.map((stage) => stage.p95Seconds)),
    costUsdPerRequest: costUsdPerRequest({ gpus: 1, usdPerGpuHour: costUsdPerHour, requestsPerSecond, judgements, judge }),
    costUsdPerHour,
    utilisation: [...deployment, ...kept].reduce((sum, { utilisation, gpus: own }) => sum + (Math.min(1, utilisation) * own) / gpus, 0),
    stages,
    ...(uses.length === 0
      ? {}
      : {
          hosted: uses.map(({ model, requestsPerSecond: rate, usdPerHour: usd }) => ({
            ...{ model: model.model, share: rate / requestsPerSecond, requestsPerSecond: rate, usdPerHour: usd },
          })),
        }),
    ...judgePrediction(input, finalist),
    ...peerPredictions(input, finalist),
    tableError: finalist.tableSeconds / finalist.verifiedSeconds - 1,
    // Another judge changes nothing where gates leave it out, and no one knows its scores where they read more than it. Cascade routing is fitted
    // to the scores of this one: with another it would be another routing.
    judgeOutlooks:
      explorer.byGain || explorer.input.gates !== undefined
        ? []
        : judgeOutlooks(workload, {
            models: deployment.map((stage) => stage.model),
            thresholds,
            startBelow,
            saturation: deployment.map((stage) => stage.saturationRequestsPerSecond),
            requestsPerSecond,
          }),
    notes: planNotes(input, finalist, stages),
  };
}

/** The objective's percentile with engines that are slower and faster by the profile's error; null where no error is known. */
function paced(input: Predicted, finalist: Finalist, extrapolated: boolean): Paced | null {
  const errors = input.profile.errors?.endToEnd;
  if (errors === undefined || errors.rows === 0) return null;
  const { low, high } = errorBand(1, errors, extrapolated);
  const policy = planPolicy(input, finalist.routing, null);
  const measured = measuredRequests(input.explorer.input.requestsPerSecond, input.measuredSeconds);
  const at = (pace: number): number => pacedSeconds(input, policy, { ...finalist, pace, measured }) ?? pace * finalist.verifiedSeconds;
  return { slower: at(high), faster: at(low) };
}

/** The figures of the judge's own engines, where the plan has any. */
function judgePrediction({ explorer, profile }: Predicted, { routing, kept, judgeMeanSeconds }: Finalist): Pick<Predictions, "judge"> {
  const judging = kept.find(({ model }) => model === explorer.input.judgeEngine?.model);
  if (judging === undefined) return {};
  const { routed, thresholds } = explorer.routing(routing);
  return {
    judge: {
      requestsPerSecond: explorer.input.requestsPerSecond * judgementsOf(routed, thresholds),
      meanSeconds: judgeMeanSeconds,
      p95Seconds: judging.tableSeconds,
      utilisation: Math.min(1, judging.utilisation),
      stability: stageStability(judging, profile) === "stable" ? "stable" : "near-saturation",
    },
  };
}

/** The figures of the models that answer for gates alone, where the plan has any. */
function peerPredictions({ explorer, profile }: Predicted, { routing, kept }: Finalist): Pick<Predictions, "gatePeers"> {
  const peers = explorer.input.gates?.peers ?? [];
  const rows = explorer.rows(explorer.routing(routing));
  const found = kept.filter(({ model }) => peers.some((peer) => peer.model === model));
  if (found.length === 0) return {};
  return {
    gatePeers: found.map((own) => ({
      model: own.model,
      requestsPerSecond: rows.find(({ model }) => model === own.model)?.requestsPerSecond ?? 0,
      p95Seconds: own.tableSeconds,
      utilisation: Math.min(1, own.utilisation),
      stability: stageStability(own, profile) === "stable" ? "stable" : "near-saturation",
    })),
  };
}

function stagePrediction(input: Predicted, finalist: Finalist, index: number): StagePrediction {
  const { explorer, profile } = input;
  const { routed } = explorer.routing(finalist.routing);
  const deployed = finalist.deployment[index];
  const measured = finalist.measured[index];
  if (deployed === undefined || measured === undefined) throw new Error(`no stage ${index} in the finalist`);
  const { percentile, mean: average, ttftPercentile } = measured;
  const share = routed.share[index] ?? 0;
  const endToEnd = profile.errors?.endToEnd ?? null;
  const extrapolated = extrapolationsOf(input, finalist, index);
  const beyond = extrapolated.length > 0;
  return {
    model: deployed.model,
    share,
    ...(routed.startShare === undefined ? {} : { startShare: routed.startShare[index] ?? 0 }),
    requestsPerSecond: share * explorer.input.requestsPerSecond,
    p95Seconds: percentile.seconds,
    meanSeconds: average.seconds,
    ttftP95Seconds: ttftPercentile.seconds,
    ...(percentile.spreadSeconds === null
      ? {}
      : {
          bands: {
            p95Seconds: predictionSpan(percentile, endToEnd, beyond),
            meanSeconds: predictionSpan(average, endToEnd, beyond),
            ttftP95Seconds: predictionSpan(ttftPercentile, profile.errors?.ttft ?? null, beyond),
          },
        }),
    utilisation: Math.min(1, deployed.utilisation),
    stability: stageStability(deployed, profile) === "stable" ? "stable" : "near-saturation",
    extrapolated,
  };
}

/** In which respects a stage of the finalist is outside the runs that its profile was fitted to. */
function extrapolationsOf({ explorer, profile, cards }: Predicted, finalist: Finalist, index: number): string[] {
  const cascade = explorer.routing(finalist.routing);
  const { sample, requestsPerSecond } = explorer.input;
  const deployed = finalist.deployment[index];
  if (deployed === undefined) return [];
  const { prompts } = explorer.mixes(cascade)[index] ?? { prompts: new Int32Array() };
  const tokens = (counts: Int32Array | undefined): number => mean(Float64Array.from(prompts, (prompt) => counts?.[prompt] ?? 0));
  const load = {
    inputTokens: tokens(sample.inputTokens),
    outputTokens: tokens(sample.outputTokens[cascade.stages[index] ?? 0]),
    inFlight: requestsPerSecond * (cascade.routed.share[index] ?? 0) * (finalist.measured[index]?.mean.seconds ?? 0),
  };
  return stageExtrapolations(deployed, load, { profile, cards });
}
