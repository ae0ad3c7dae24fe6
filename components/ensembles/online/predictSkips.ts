import { ABSENT, formatFinePercent, formatFinePercentSpan } from "@/components/ui/format";
import type { AnswerSampleSummary, GateReport, ReplayRequest } from "@/server/contracts/studio";
import { reachesTau } from "@/solver/ensemble/gate/confidence";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { hasAll, type SampledEngines, tellsOf } from "@/solver/ensemble/replay/answerSample";
import { originWords } from "../gate/prepareSamples";
import { confidenceOf } from "../gate/prepareTauUse";

/** What a sample says of a served ensemble at its tau, as a figure has it. */
export interface PredictedSkips {
  readonly value: string;
  readonly detail: string;
}

/** Nothing is predicted. @param why in words. */
export const unpredicted = (why: string): PredictedSkips => ({ value: ABSENT, detail: why });

/** The sample that a served ensemble is held against: the one that is named where it has answers of every expert, else the newest that tells of such engines. */
export function predictingSample(
  samples: readonly AnswerSampleSummary[],
  named: string | null,
  engines: SampledEngines,
): AnswerSampleSummary | null {
  const chosen = samples.find((sample) => sample.id === named && hasAll(sample, engines.experts));
  return chosen ?? samples.find((sample) => tellsOf(sample, engines)) ?? null;
}

/** The ensemble's gate, to be replayed on a sample for what it skips alone. */
export const predictingRequest = (ensemble: Ensemble, sampleId: string): ReplayRequest => ({
  ...{ sampleId, experts: [...ensemble.experts], expertsPerQuestion: ensemble.expertsPerQuestion, aggregator: null },
  ...{ confidence: ensemble.confidence.kind, allowedPoints: 1 },
});

/** Of a figure that weighs votes: a sample that is replayed without an aggregator has some questions more. */
const ALIKE = 0.01;

/** Whether votes weigh in the ensemble what they weigh in the replay, whose figures are the sample's. */
function weighsAlike({ confidence }: Ensemble, { experts }: GateReport): boolean {
  const own = confidenceOf(confidence.kind, experts);
  const figures = (of: Ensemble["confidence"]) =>
    of.kind === "plurality" ? {} : of.kind === "accuracy-weighted" ? of.accuracy : of.meanTokens;
  const [a, b] = [figures(confidence), figures(own)];
  return Object.keys(b).every((model) => Math.abs((a[model] ?? 0) - (b[model] ?? 0)) <= ALIKE * (b[model] ?? 0));
}

/**
 * Share of questions that skip the aggregator at the tau that the ensemble has, which is no aggregating of all, by a sample on which just this gate was
 * replayed; or why it says nothing of it.
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
