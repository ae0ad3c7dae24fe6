import { areaDifference, riskCoverageArea } from "@/solver/gates/gates";
import type { PromptSplit } from "@/solver/workload/split";
import type { GateSignal, StageAnswers } from "./gateSignal";

/**
 * How much larger the area of a gate may be, as a share of the smallest one, for the gate to count as equally good: less than a tenth of what
 * the accepted answers lose. The whole 90 % interval of the difference must lie below it, over the same resamples of the answers. With few
 * prompts nothing is known so well, and the gate with the smallest area stays: that a difference may be chance makes no gate a good one.
 */
const EQUIVALENCE_MARGIN = 0.1;

/**
 * Gates of a stage in the order of recommendation, by the planning prompts alone: those that are surely as good as the one with the smallest
 * risk-coverage area by the tokens of their further calls, and the others after them by their areas. Unknown tokens are after all others.
 */
export function inOrderOfChoice(
  { label }: Pick<StageAnswers, "label">,
  signals: readonly GateSignal[],
  { split, seed }: { readonly split: PromptSplit; readonly seed: number },
): readonly GateSignal[] {
  const rawOf = ({ raw }: GateSignal): Float64Array => Float64Array.from(split.planning, (row) => raw[row] ?? 0);
  const labelled = (signal: GateSignal) => Array.from(split.planning, (row) => ({ score: signal.raw[row] ?? 0, label: label[row] ?? 0 }));
  const byArea = signals
    .map((signal) => ({ signal, area: riskCoverageArea(labelled(signal)) }))
    // Areas that differ by rounding alone are equal, and the order of the signals stays.
    .sort((a, b) => Math.round(1e9 * a.area) - Math.round(1e9 * b.area));
  const [best] = byArea;
  if (best === undefined) return [];
  const ofBest = labelled(best.signal);
  const margin = EQUIVALENCE_MARGIN * best.area;
  const asGood = byArea.filter((one) => one === best || areaDifference(ofBest, rawOf(one.signal), seed).high <= margin);
  const tokens = ({ signal: { cost } }: (typeof byArea)[number]): number => cost.extraTokens ?? Number.MAX_VALUE;
  const inOrder = [...asGood.toSorted((a, b) => tokens(a) - tokens(b)), ...byArea.filter((one) => !asGood.includes(one))];
  return inOrder.map(({ signal }) => signal);
}
