import { type ProgramLoadReport, saidTokens } from "@/server/load/programLoad";
import { predictionSpan, statistic } from "@/solver/cascade/deploy/predictionBand";
import type { ProgramOutcome } from "@/solver/cluster/programOutcome";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ProgramPredictions } from "@/solver/workflow/programSample";
import { runSession } from "../gateway/session";
import type { AgreementSetup } from "./setup";

export interface AgreementCase {
  readonly setup: AgreementSetup;
  readonly policy: PolicyDocument;
  /** The predictions for the programs. */
  readonly prediction: Predicted;
  /** Has the engines deviate from their model, each name in a different way; left out: they match the model. */
  readonly modelPerturbation?: string | undefined;
}

/** Predicted by clients, who send it with their requests, or by predictors in the gateway, which the policy names. */
type Predicted =
  | { readonly by: "clients"; readonly said: Pick<ProgramPredictions, "confidence" | "remainingTokens"> }
  | {
      readonly by: "predictors";
      readonly artefacts: readonly Uint8Array[];
      /** Their predictions for the sample. */
      readonly predictions: ProgramPredictions;
      readonly textOf: (row: number) => string | null;
    };

/** A run of programs through processes and on virtual time. Seconds are wall time, which equals the engines' time. */
export interface Agreement {
  readonly programs: number;
  readonly requests: number;
  readonly predictedSeconds: number;
  readonly measuredSeconds: number;
  /** Measured divided by predicted. */
  readonly ratio: number;
  /** The band that plans would predict for nine of ten measured means. */
  readonly band: { readonly low: number; readonly high: number };
  readonly predictedP95Seconds: number;
  readonly measuredP95Seconds: number;
  readonly predictedSecondsPerToken: number;
  readonly measuredSecondsPerToken: number;
  readonly predictedQuality: number;
  readonly measuredQuality: number;
  /** Mean wait for a place in an engine's batch, predicted. */
  readonly queueSeconds: number;
  /** Share of the time in which engines have a running step, by model, predicted. */
  readonly busyShare: readonly number[];
  /** Share of the programs that begin with the same model in both. */
  readonly sameModelShare: number;
  /** Delay that at least one program in twenty had at its start. */
  readonly lateSeconds: number;
  readonly failures: readonly string[];
}

/** Runs the same programs at the same arrivals under the same policy: simulated, and through separate gateway and emulator processes. */
export async function runAgreement({ setup, policy, prediction, modelPerturbation }: AgreementCase): Promise<Agreement> {
  const { sample, replicas } = setup;
  const predicted = simulatePrograms({
    policy: buildPolicy(policy),
    sample,
    replicas,
    predictions: prediction.by === "predictors" ? prediction.predictions : asHeard(prediction.said, sample),
  });
  const { by: _, ...predictors } = prediction;
  const { runs } = await runSession({ setup, policies: [policy], timeScale: 1, modelPerturbation, ...predictors });
  const [run] = runs;
  if (run === undefined) throw new Error("No run of the policy");
  return compared(predicted, run.report, setup);
}

/** Client predictions as the gateway gets them: tokens without the model. */
const asHeard = ({ confidence, remainingTokens }: ProgramPredictions, sample: AgreementSetup["sample"]): ProgramPredictions => ({
  ...(confidence === undefined ? {} : { confidence }),
  remainingTokens: (request, _model, inputTokens) => saidTokens(sample, remainingTokens, request, inputTokens),
});

function compared(predicted: ProgramOutcome, measured: ProgramLoadReport, { sample }: AgreementSetup): Agreement {
  // In both, one that is not completely served would make the mean infinite.
  const figure = statistic(predicted.endToEndSeconds, mean);
  const measuredSeconds = mean(measured.endToEndSeconds);
  const perToken = ({ endToEndSeconds, outputTokens }: Pick<ProgramOutcome, "endToEndSeconds" | "outputTokens">): number =>
    mean(endToEndSeconds.map((seconds, program) => seconds / (outputTokens[program] ?? 1)));
  const first = sample.firstRequest.subarray(0, sample.arrivalSeconds.length);
  return {
    programs: sample.arrivalSeconds.length,
    requests: sample.program.length,
    predictedSeconds: figure.seconds,
    measuredSeconds,
    ratio: measuredSeconds / figure.seconds,
    // The fit contains no run on the emulated GPUs, so plans on them double the profile's error.
    band: predictionSpan(figure, vllmProfile.errors?.endToEnd ?? null, true),
    predictedP95Seconds: quantile(predicted.endToEndSeconds, 0.95),
    measuredP95Seconds: quantile(measured.endToEndSeconds, 0.95),
    predictedSecondsPerToken: perToken(predicted),
    measuredSecondsPerToken: perToken(measured),
    predictedQuality: mean(predicted.quality),
    measuredQuality: mean(measured.quality),
    queueSeconds: mean(predicted.queueSeconds),
    busyShare: predicted.busyShare,
    sameModelShare: mean(first.map((request) => (predicted.model[request] === measured.model[request] ? 1 : 0))),
    lateSeconds: quantile(measured.lateSeconds, 0.95),
    failures: measured.failures,
  };
}
