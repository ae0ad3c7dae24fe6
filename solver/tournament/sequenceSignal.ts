import type { SequenceDocument } from "@/solver/gates/gateDocument";
import { type DoubtfulMiddle, sequencesOn } from "@/solver/stageGates/gateCandidates";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGate } from "@/solver/stageGates/stageGate";
import type { PromptSplit } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import type { GateSignal } from "./gateSignal";
import { inOrderOfChoice } from "./orderOfChoice";

/** Doubtful middles that are tried, three lower bounds by three upper ones; that of plans (.2 to .6) among them. */
const MIDDLES: readonly DoubtfulMiddle[] = [0.1, 0.2, 0.35].flatMap((from) => [0.45, 0.6, 0.8].map((to) => ({ from, to })));

/** Parts of the planning prompts, each scored by gates that are calibrated on the others. */
const FOLDS = 5;

interface SequenceOptions {
  readonly split: PromptSplit;
  /** Time of one judge call; null where it is not known. */
  readonly judgeSeconds: number | null;
}

/**
 * Confidence first and the judge for the doubtful middle, with the best of nine middles by the planning prompts alone, as the tournament
 * chooses gates. Its scores of planning prompts are those of gates calibrated without them, so that it does not look better than a gate that
 * was calibrated on nothing.
 *
 * @returns null without a column of confidence, with a modelled judge, to whose scores a calibration fits no real one, and below the answers that
 * calibrations need.
 */
export function sequenceSignal(workload: Workload, own: ModelOutcomes, { split, judgeSeconds }: SequenceOptions): GateSignal | null {
  if (workload.judge.kind === "modelled") return null;
  const folds = Array.from({ length: FOLDS }, (_, fold) => ({
    inside: split.planning.filter((_row, at) => at % FOLDS === fold),
    documents: sequencesOn(workload, own, { rows: split.planning.filter((_row, at) => at % FOLDS !== fold), middles: MIDDLES }),
  }));
  const documents = sequencesOn(workload, own, { rows: split.planning, middles: MIDDLES });
  const signals = (documents ?? []).flatMap((sequence, at) => {
    const whole = scoresOf(workload, own, sequence);
    const raw = whole?.scores.slice();
    const judged = whole?.judged;
    if (raw === undefined || judged == null) return [];
    for (const { inside, documents: others } of folds) {
      const without = others?.[at];
      const scores = without === undefined ? undefined : scoresOf(workload, own, without)?.scores;
      if (scores === undefined) return [];
      for (const row of inside) raw[row] = scores[row] ?? 0;
    }
    return [signalOf({ sequence, raw, judged }, { workload, own, judgeSeconds })];
  });
  return inOrderOfChoice(own, signals, { split, seed: workload.seed })[0] ?? null;
}

function scoresOf(workload: Workload, { model }: ModelOutcomes, document: SequenceDocument) {
  const gate = stageGate(workload, model, document);
  return isRefused(gate) ? null : gate;
}

/** With the tokens and the time of the judge's calls, over all answers. */
function signalOf(
  { sequence, raw, judged }: { readonly sequence: SequenceDocument; readonly raw: Float64Array; readonly judged: Uint8Array },
  of: Pick<SequenceOptions, "judgeSeconds"> & { readonly workload: Workload; readonly own: ModelOutcomes },
): GateSignal {
  const { inputTokens } = of.workload.outcomes;
  const sum = (value: (at: number) => number): number => judged.reduce((all, asked, at) => all + asked * value(at), 0);
  const judgedShare = sum(() => 1) / judged.length;
  const extraTokens = sum((at) => (inputTokens[at] ?? 0) + (of.own.outputTokens[at] ?? 0)) / judged.length;
  const extraSeconds = of.judgeSeconds === null ? null : judgedShare * of.judgeSeconds;
  return { kind: "sequence", name: "sequence", modelled: false, raw, cost: { extraTokens, extraSeconds, judgedShare }, sequence };
}
