import { type DeployedStage, usdPerHour } from "@/solver/cascade/deploy/deployedStage";
import { measuredRequests, predictionBand, predictionSpan, statistic } from "@/solver/cascade/deploy/predictionBand";
import { stageExtrapolations } from "@/solver/cascade/deploy/stageExtrapolations";
import { stageStability } from "@/solver/cascade/deploy/stageStability";
import { settledStage } from "@/solver/cascade/deploy/wholeSimulation";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { standardError } from "@/solver/numeric/interval";
import { normalQuantile } from "@/solver/numeric/normal";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Predictions, StagePrediction } from "@/solver/plan/plan";
import type { SlackSteps } from "@/solver/plan/planSlack";
import type { VerifiedDispatch } from "./searchDispatch";

export interface PredictedDispatch {
  readonly explorer: Pick<Explorer, "input">;
  readonly cluster: ClusterSpec;
  readonly profile: EngineProfile;
  readonly cards: CardCatalogue;
  readonly verified: VerifiedDispatch;
  /** Per model of the allocation. */
  readonly deployment: readonly DeployedStage[];
  readonly steps: SlackSteps;
}

/** Half width of a two-sided interval of a share among the planning prompts' draws, in standard errors. */
const twoSided = (confidence: number): number => normalQuantile((1 + confidence) / 2);

/** The predictions of a slack dispatch: the figures of its whole simulation, each with its possible error. */
export function dispatchPredictions(input: PredictedDispatch, notes: readonly string[]): Predictions {
  const { explorer, cluster, profile, verified, deployment, steps } = input;
  const { requestsPerSecond, quantile: q, qualityConfidence } = explorer.input;
  const { run, point } = verified;
  const measured = measuredRequests(requestsPerSecond);
  const endToEnd = run.outcome.endToEndSeconds.subarray(run.warmUp);
  const p95 = statistic(endToEnd, (seconds) => quantile(seconds, q), measured);
  const stages = deployment.map((_, stage) => stagePrediction(input, stage));
  const costUsdPerHour = usdPerHour(deployment, cluster);
  const half = twoSided(qualityConfidence) * standardError(run.accepted.filter((label) => !Number.isNaN(label)));
  const prompts = explorer.input.sample.prompts;
  return {
    quality: point.quality,
    qualityBand: {
      low: point.qualityLow,
      high: Math.min(100, 2 * point.quality - point.qualityLow),
      confidence: qualityConfidence,
      basis: `lower end calibrated to hold for whichever allocation and tau is picked, from ${prompts} planning prompts; the upper end mirrors it, and the confidence is of each end on its own`,
    },
    qualityInterval: {
      low: Math.max(0, point.quality - half),
      high: Math.min(100, point.quality + half),
      confidence: qualityConfidence,
      basis: `${prompts} planning prompts at this tau; two-sided`,
    },
    p95Seconds: p95.seconds,
    p95Band: predictionBand(p95, profile, {
      extrapolated: stages.some(({ extrapolated = [] }) => extrapolated.length > 0),
      nearSaturation: stages.some(({ stability }) => stability === "near-saturation"),
      measured,
    }),
    meanSeconds: mean(endToEnd),
    largestStageP95Seconds: Math.max(...stages.map((stage) => stage.p95Seconds)),
    costUsdPerRequest: costUsdPerHour / 3600 / requestsPerSecond,
    costUsdPerHour,
    utilisation: meanUtilisation(deployment),
    stages,
    tableError: verified.exploredSeconds / (verified.verifiedSeconds || 1) - 1,
    judgeOutlooks: [],
    slack: steps,
    notes: [...notes],
  };
}

function meanUtilisation(deployment: readonly DeployedStage[]): number {
  const gpus = deployment.reduce((sum, stage) => sum + stage.gpus, 0);
  return deployment.reduce((sum, { utilisation, gpus: own }) => sum + (Math.min(1, utilisation) * own) / gpus, 0);
}

function stagePrediction(input: PredictedDispatch, index: number): StagePrediction {
  const { explorer, profile, verified, deployment } = input;
  const { requestsPerSecond, quantile: q, qualityConfidence } = explorer.input;
  const { run } = verified;
  const deployed = deployment[index];
  if (deployed === undefined) throw new Error(`no model ${index} in the deployment`);
  const share = run.share[index] ?? 0;
  const answers = run.outcome.stages[index];
  const settled =
    answers === undefined || answers.requests === 0
      ? null
      : settledStage(answers, run.warmUp, q, share * measuredRequests(requestsPerSecond));
  const requests = run.outcome.endToEndSeconds.length - run.warmUp;
  const half = twoSided(qualityConfidence) * Math.sqrt((share * (1 - share)) / Math.min(requests, explorer.input.sample.prompts));
  const errors = profile.errors?.endToEnd ?? null;
  const { sample } = explorer.input;
  const load = {
    inputTokens: mean(sample.inputTokens),
    outputTokens: mean(sample.outputTokens[verified.allocation.models[index] ?? 0] ?? []),
    inFlight: requestsPerSecond * share * (settled?.mean.seconds ?? 0),
  };
  const extrapolated = settled === null ? [] : stageExtrapolations(deployed, load, input);
  const beyond = extrapolated.length > 0;
  return {
    model: deployed.model,
    share,
    startShare: share,
    shareBand: { low: Math.max(0, share - half), high: Math.min(1, share + half) },
    requestsPerSecond: share * requestsPerSecond,
    p95Seconds: settled?.percentile.seconds ?? 0,
    meanSeconds: settled?.mean.seconds ?? 0,
    ttftP95Seconds: settled?.ttftPercentile.seconds ?? 0,
    ...(settled === null || settled.percentile.spreadSeconds === null
      ? {}
      : {
          bands: {
            p95Seconds: predictionSpan(settled.percentile, errors, beyond),
            meanSeconds: predictionSpan(settled.mean, errors, beyond),
            ttftP95Seconds: predictionSpan(settled.ttftPercentile, profile.errors?.ttft ?? null, beyond),
          },
        }),
    utilisation: Math.min(1, deployed.utilisation),
    stability: stageStability(deployed, profile) === "stable" ? "stable" : "near-saturation",
    extrapolated,
  };
}
