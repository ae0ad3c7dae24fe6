import { type MeasuredGates, measureGates } from "../lib/gateSplits";
import type { LadderAnswers } from "./answers";
import type { GateLadder } from "./cases";
import { agreementSignal, ladderSignals } from "./signals";

export interface MeasuredLadder extends MeasuredGates {
  readonly ladder: GateLadder;
}

/** The judge that stands for an ordinary LLM judge; the other modelled judges show what its reliability changes. */
const USUAL_JUDGE = "judge of AUC 0.8";

/** Measures all gates of a ladder over all splits, at the share on which small model and peer disagree. */
export function measureLadder(answers: LadderAnswers): MeasuredLadder {
  const { ladder, outcomes } = answers;
  const [own, next] = outcomes.models;
  if (own === undefined || next === undefined) throw new Error("A ladder has two models");
  const { raw } = agreementSignal(answers);
  const measured = measureGates({
    name: ladder.name,
    stage: { model: own.model, next: next.model, label: own.label, nextLabel: next.label },
    floors: ladder.floors,
    signals: (drawn) => ladderSignals(answers, drawn),
    share: (planning) => planning.reduce((sum, row) => sum + (raw[row] === 100 ? 0 : 1), 0) / planning.length,
    competes: ({ modelled, name }) => !modelled || name === USUAL_JUDGE,
  });
  return { ladder, ...measured };
}
