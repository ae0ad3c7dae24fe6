import type { GateSignal } from "@/solver/tournament/gateSignal";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type MeasuredGates, measureGates } from "../lib/gateSplits";
import type { LadderAnswers } from "./answers";
import { agreementSignal, ladderSignals, scoredSignals } from "./signals";

export interface MeasuredLadder extends MeasuredGates {
  /** Whose answers are compared with; null: none are stored. */
  readonly peer: string | null;
}

/** The judge that stands for an ordinary LLM judge; the other modelled judges show what its reliability changes. */
const USUAL_JUDGE = "judge of AUC 0.8";

const competes = ({ modelled, name }: GateSignal): boolean => !modelled || name === USUAL_JUDGE;

/** The share that is sent on where nothing says how many answers disagree. */
const HALF = 0.5;

/** Measures all gates of a ladder over all splits, at the share on which small model and peer disagree. */
export function measureLadder(answers: LadderAnswers): MeasuredLadder {
  const { ladder, outcomes } = answers;
  const { raw } = agreementSignal(answers);
  const measured = measureGates({
    ...{ name: ladder.name, stage: stageOf(outcomes), floors: ladder.floors, competes },
    signals: (drawn) => ladderSignals(answers, drawn),
    share: (planning) => planning.reduce((sum, row) => sum + (raw[row] === 100 ? 0 : 1), 0) / planning.length,
  });
  return { peer: ladder.peer, ...measured };
}

/** Measures the gates of a table with a judge's measured scores, which may be graded, at half of the answers. */
export function measureScored(
  outcomes: OutcomeTable,
  { name, floors }: { readonly name: string; readonly floors: readonly number[] },
): MeasuredLadder {
  const measured = measureGates({
    ...{ name, stage: stageOf(outcomes), floors, competes },
    signals: (drawn) => scoredSignals(outcomes, drawn),
    share: () => HALF,
  });
  return { peer: null, ...measured };
}

function stageOf({ models: [own, next] }: OutcomeTable) {
  if (own === undefined || next === undefined) throw new Error("A ladder has two models");
  return { model: own.model, next: next.model, label: own.label, nextLabel: next.label };
}
