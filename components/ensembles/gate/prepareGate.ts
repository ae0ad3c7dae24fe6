import { formatDelta, formatFinePercent, formatFinePercentSpan, formatPercent } from "@/components/ui/format";
import type { GateReport } from "@/server/contracts/studio";
import { reachesTau } from "@/solver/ensemble/gate/confidence";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau, isAggregateAll } from "@/solver/ensemble/gate/tauText";
import type { Interval } from "@/solver/numeric/interval";
import type { TauStop } from "./TauSlider";

/** A sample's figures for one tau, for a stop of the slider. */
export interface GateStop extends TauStop {
  readonly skipped: Interval;
  readonly accuracy: Interval;
  readonly difference: Interval | null;
  readonly aggregatorTokens: number;
}

export interface GateFigure {
  readonly name: string;
  readonly value: string;
  readonly detail: string;
}

const NBSP = "\u00a0";
const exactly = (value: number): Interval => ({ value, low: value, high: value });

/** Every tau that changes something on the sample, rising, followed by always aggregating where there is an aggregator. */
export function gateStops(report: GateReport, expertsPerQuestion: number): readonly GateStop[] {
  const points = report.points.filter(({ tau }) => !isAggregateAll(tau));
  const { alwaysAggregated } = report;
  const all =
    alwaysAggregated === null
      ? []
      : [{ tau: AGGREGATE_ALL, skipped: exactly(0), accuracy: alwaysAggregated, difference: exactly(0), aggregatorTokens: 1 }];
  return [...points, ...all].map((point) => ({
    ...point,
    name: formatTau(point.tau, expertsPerQuestion),
    says: `${formatFinePercent(point.skipped.value)} of questions skip the aggregator, accuracy ${formatFinePercent(point.accuracy.value)}`,
  }));
}

/** Index of the stop equivalent to `tau`: the first that is no lower. null, or none so high: the last. */
export function stopOf(stops: readonly TauStop[], tau: number | null): number {
  const found = tau === null ? -1 : stops.findIndex((stop) => reachesTau(stop.tau, tau));
  return found === -1 ? stops.length - 1 : found;
}

const points = (share: number): string => formatDelta(100 * share, 1);

/** Accuracy compared with always aggregating, in words that do not call noise a change. */
function differenceOf({ difference, tau }: GateStop): GateFigure {
  const name = "Against always aggregating";
  if (difference === null) return { name, value: "–", detail: "there is no aggregator to compare with" };
  if (tau > 1) return { name, value: "±0", detail: "this is always aggregating" };
  const noise = difference.low <= 0 && difference.high >= 0;
  const span = `${points(difference.low)} to ${points(difference.high)}`;
  return {
    name,
    value: `${points(difference.value)}${NBSP}points`,
    detail: noise ? `${span}: within noise` : `${span}: ${difference.value < 0 ? "skipping costs accuracy" : "skipping gains accuracy"}`,
  };
}

/** Accuracy of all questions with an aggregator for those that are not skipped; without an aggregator, of the skipped ones. */
const accuracyOf = ({ accuracy, difference }: GateStop): GateFigure =>
  difference === null
    ? { name: "Accuracy of what is skipped", value: formatFinePercent(accuracy.value), detail: formatFinePercentSpan(accuracy) }
    : {
        name: "Accuracy",
        value: formatFinePercent(accuracy.value),
        detail: `${formatFinePercentSpan(accuracy)}, the aggregator's modelled answers among them`,
      };

/** The stop's figures, each with its 90 % interval. */
export function gateFigures(stop: GateStop): readonly GateFigure[] {
  const saved = Math.max(0, 1 - stop.aggregatorTokens);
  return [
    accuracyOf(stop),
    {
      name: "Skip the aggregator",
      value: formatFinePercent(stop.skipped.value),
      detail: stop.tau > 1 ? "of questions" : `of questions (${formatFinePercentSpan(stop.skipped)})`,
    },
    differenceOf(stop),
    {
      name: "Aggregator's time saved",
      value: formatPercent(saved),
      detail: savedText(stop, saved),
    },
  ];
}

/** Skipping saves less time than its rate where the questions on which experts split have the longest answers. */
function savedText({ skipped, tau }: GateStop, saved: number): string {
  if (tau > 1) return "by the tokens it reads of answers";
  const less = 100 * (skipped.value - saved);
  if (less < 1) return "by the tokens it reads of answers";
  return `by the tokens it reads: less than it skips, as questions that split experts carry longer answers`;
}

/** Which tau is recommended and why, in a sentence. */
export function recommendation(
  report: GateReport,
  request: { readonly expertsPerQuestion: number; readonly allowedPoints: number },
): string {
  const { chosenTau, alwaysAggregated } = report;
  const cost = `${request.allowedPoints} ${request.allowedPoints === 1 ? "point" : "points"}`;
  if (alwaysAggregated === null) return "No tau is recommended: without an aggregator a skip cannot be compared.";
  if (chosenTau === null)
    return `No tau is recommended: none costs at most ${cost} with 90 % confidence. Aggregate all, allow more, or add questions.`;
  return `Recommended: ${formatTau(chosenTau, request.expertsPerQuestion)}, the lowest tau that costs at most ${cost} of accuracy with 90 % confidence.`;
}

export interface ExpertRow {
  readonly model: string;
  readonly accuracy: string;
  readonly span: string;
  readonly asked: number;
  readonly voted: string;
  readonly meanTokens: number;
}

/** The experts' figures in the sample, in the experts' order. */
export const expertRows = ({ experts }: GateReport): readonly ExpertRow[] =>
  experts.map(({ model, accuracy, asked, voted, meanTokens }) => ({
    model,
    accuracy: formatFinePercent(accuracy.value),
    span: formatFinePercentSpan(accuracy),
    asked,
    voted: formatPercent(voted),
    meanTokens: Math.round(meanTokens),
  }));

/** The most accurate expert alone, where that is a useful comparison with a gate: no worse than the stop, at a fraction of its calls. */
export function aloneSays({ experts }: GateReport, stop: GateStop): string | null {
  const [best] = experts.toSorted((a, b) => b.accuracy.value - a.accuracy.value);
  if (best === undefined || best.accuracy.value < stop.accuracy.value) return null;
  return `${best.model} alone is right on ${formatFinePercent(best.accuracy.value)} of its questions: at this tau the ensemble is not better.`;
}
