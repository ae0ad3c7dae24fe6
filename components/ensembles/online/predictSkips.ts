import { ABSENT, formatFinePercent, formatFinePercentSpan } from "@/components/ui/format";
import type { AnswerSampleSummary, GateReport, ReplayRequest } from "@/server/contracts/studio";
import { reachesTau } from "@/solver/ensemble/gate/confidence";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { hasAll, type SampledEngines, tellsOf } from "@/solver/ensemble/replay/answerSample";
import { originWords } from "../gate/prepareSamples";
import { confidenceOf } from "../gate/prepareTauUse";

/** A sample's prediction for a served ensemble at its tau, as a figure. */
export interface PredictedSkips {
  readonly value: string;
  readonly detail: string;
}

/** Nothing is predicted. @param why in words. */
export const unpredicted = (why: string): PredictedSkips => ({ value: ABSENT, detail: why });

/**
 * The sample that a served ensemble is compared with: the named one if it has answers of every expert, else the newest from such engines.
 */
export function predictingSample(
  samples: readonly AnswerSampleSummary[],
  named: string | null,
  engines: SampledEngines,
): AnswerSampleSummary | null {
  const chosen = samples.find((sample) => sample.id === named && hasAll(sample, engines.experts));
  return chosen ?? samples.find((sample) => tellsOf(sample, engines)) ?? null;
}

/** The request that replays the ensemble's gate on a sample for its skips alone. */
export const predictingRequest = (ensemble: Ensemble, sampleId: string): ReplayRequest => ({
  ...{ sampleId, experts: [...ensemble.experts], expertsPerQuestion: ensemble.expertsPerQuestion, aggregator: null },
  ...{ confidence: ensemble.confidence.kind, allowedPoints: 1 },
});

/** A confidence that weighs votes: a sample that is replayed without an aggregator has more questions. */
const ALIKE = 0.01;

/** Whether votes have the same weights in the ensemble as in the replay, which uses the sample's figures. */
function weighsAlike({ confidence }: Ensemble, { experts }: GateReport): boolean {
  const own = confidenceOf(confidence.kind, experts);
  const figures = (of: Ensemble["confidence"]) =>
    of.kind === "plurality" ? {} : of.kind === "accuracy-weighted" ? of.accuracy : of.meanTokens;
  const [a, b] = [figures(confidence), figures(own)];
  return Object.keys(b).every((model) => Math.abs((a[model] ?? 0) - (b[model] ?? 0)) <= ALIKE * (b[model] ?? 0));
}

/**
 * Share of questions that skip the aggregator at the ensemble's tau, which must not aggregate all, on a sample on which this gate was
 * replayed; or why the sample does not give it.
 *
 * @param report of `predictingRequest` on the sample.
 */
export function predictSkips(ensemble: Ensemble, sample: AnswerSampleSummary, report: GateReport): PredictedSkips {
  const { tau, experts, expertsPerQuestion, skills } = ensemble;
  if (experts.length > expertsPerQuestion && skills === undefined)
    return unpredicted("a sample recruits experts by accuracy, this ensemble asks the first of its list");
  if (!weighsAlike(ensemble, report)) return unpredicted(`votes have other weights on the sample ${sample.name}`);
  const point = report.points.find((each) => reachesTau(each.tau, tau));
  if (point === undefined) return unpredicted(`the sample ${sample.name} ends below this tau`);
  const { word } = originWords[sample.origin];
  const from = sample.name.endsWith(word) ? sample.name : `${sample.name}, ${word}`;
  return { value: formatFinePercent(point.skipped.value), detail: `${formatFinePercentSpan(point.skipped)} by the sample ${from}` };
}
