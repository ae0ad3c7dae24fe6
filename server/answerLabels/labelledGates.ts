import type { FittedCalibration, LabelledGate, StoredAnswerLabel } from "@/server/contracts/studio";
import { type Calibration, type GateDocument, type SimpleGateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { calibratedScore, gateText, type Recalibration, recalibrate, withCalibrations } from "@/solver/gates/gates";
import type { LabelledScore } from "@/solver/judging/pairCounts";
import { canonicalJson } from "@/solver/plan/canonical";
import { cascadeOf, gatesOf, type PolicyDocument, singleStagesOf, thresholdsOf } from "@/solver/plan/policySchema";

/** Newest labels of a model's answers that count: older ones are of other traffic. */
const MOST_LABELS = 2000;

type CascadePolicy = Extract<PolicyDocument, { kind: "cascade" }>;

export interface LabelSources {
  /** A model's labels, newest first. */
  readonly newest: (model: string, limit: number) => readonly Pick<StoredAnswerLabel, "planId" | "raw" | "quality" | "at">[];
  /** The policy of a plan; null: it is not kept. */
  readonly policyOf: (planId: string) => PolicyDocument | null;
  /** When the plan in force was made, in ISO 8601: its calibrations may have been fitted to earlier labels. */
  readonly madeAt: string;
}

/** A gate in force, its labels, and its new calibration where they suffice. */
interface Recalibrated {
  readonly stage: number;
  readonly model: string;
  readonly threshold: number;
  /** Among the gates that the stage's gate consists of. */
  readonly place: number;
  readonly gate: SimpleGateDocument;
  readonly scores: readonly LabelledScore[];
  readonly made: Recalibration;
}

/** What labels say of the gates of a policy in force, and the same cascade with the new calibrations. */
export interface RecalibratedGates {
  readonly gates: readonly LabelledGate[];
  /** null: no gate has enough labels, or the calibrations in force are better. */
  readonly policy: CascadePolicy | null;
  /** A sentence for each new calibration. */
  readonly notes: readonly string[];
}

/**
 * Joins labels of served answers with the gates of the policy in force that gave them their raw scores, and fits new calibrations. Labels
 * under earlier plans count where the gate differed in its calibration alone: its raw scores are the same. Gates at a threshold of 0 score
 * no answers and are left out.
 */
export function recalibratedGates(policy: CascadePolicy, sources: LabelSources): RecalibratedGates {
  const thresholds = thresholdsOf(policy);
  const documents = gatesOf(policy);
  const all = documents.flatMap((document, stage) => {
    const [model, threshold = 0] = [policy.stages[stage]?.model ?? "", thresholds[stage]];
    if (threshold === 0) return [];
    const labels = labelsOf({ policy, document, model }, sources);
    return simpleGatesOf(document).map((gate, place): Recalibrated => {
      const scores = labels.flatMap(({ raw, quality, at }) => {
        const score = raw[place];
        return score === null || score === undefined ? [] : [{ score, label: quality, isSeen: at <= sources.madeAt }];
      });
      return { stage, model, threshold, place, gate, scores, made: recalibrate(scores, gate.calibration) };
    });
  });
  const fitted = all.filter(({ gate, made }) => made.kind === "fitted" && made.gain.high >= 0 && isChangeable(policy, gate));
  const gates = documents.map((document, stage) =>
    withCalibrations(
      document,
      simpleGatesOf(document).map((gate, place) => {
        const made = fitted.find((each) => each.stage === stage && each.place === place)?.made;
        return made?.kind === "fitted" ? made.calibration : gate.calibration;
      }),
    ),
  );
  return {
    gates: all.map((each) => labelledGate(each, documents[each.stage])),
    policy: fitted.length === 0 ? null : { ...policy, gates },
    notes: fitted.flatMap(noteOf),
  };
}

/** Cascade routing reads the judge's own scores, which its posterior was fitted to. */
const isChangeable = ({ cascadeRouting }: CascadePolicy, { kind }: SimpleGateDocument): boolean =>
  cascadeRouting === undefined || kind !== "judge";

interface StageOfPolicy {
  readonly policy: PolicyDocument;
  readonly document: GateDocument;
  readonly model: string;
}

/** Labels of answers that this gate scored, whatever its calibration was then. */
function labelsOf({ policy, document, model }: StageOfPolicy, { newest, policyOf }: LabelSources) {
  const own = identityOf(policy, document);
  const same = new Map<string, boolean>();
  const isSame = (planId: string): boolean => {
    let known = same.get(planId);
    if (known === undefined) {
      const then = policyOf(planId);
      const gate = then === null ? undefined : gatesOf(then)[singleStagesOf(then).indexOf(model)];
      known = then !== null && gate !== undefined && identityOf(then, gate) === own;
      same.set(planId, known);
    }
    return known;
  };
  return newest(model, MOST_LABELS).filter(({ planId }) => isSame(planId));
}

/** Equal for gates whose raw scores of an answer are the same: the same measure, answers compared, weights, and judge. */
function identityOf(policy: PolicyDocument, gate: GateDocument): string {
  const cascade = cascadeOf(policy);
  const judges = simpleGatesOf(gate).some(({ kind }) => kind === "judge");
  return canonicalJson({
    gate: withCalibrations(gate, []),
    ...(judges && cascade !== null && { judge: cascade.judge.model }),
  });
}

function labelledGate({ stage, model, threshold, gate, scores, made }: Recalibrated, document: GateDocument | undefined): LabelledGate {
  const { labels, good, bad, earlier } = made;
  return {
    ...{ stage: stage + 1, model, kind: gate.kind, gate: gateText(gate), calibrated: gate.calibration !== undefined },
    ...{ labels, good, bad, earlier },
    fitted: made.kind === "too-few" ? null : fittedOf(made),
  };

  function fittedOf({ before, after, gain, calibration }: Extract<Recalibration, { kind: "fitted" }>): FittedCalibration {
    // Of a gate in a sequence another gate may decide.
    const accepted = document?.kind === "sequence" ? null : { before: accepts(gate.calibration), after: accepts(calibration) };
    return { before, after, gain, accepted };
  }

  /** Share of the labelled answers whose score reaches the threshold, rounded as in the gateway. */
  function accepts(calibration: Calibration | undefined): number {
    const scored = scores.filter(({ score }) => Math.round(100 * calibratedScore(score, calibration)) / 100 >= threshold);
    return scored.length / scores.length;
  }
}

function noteOf({ model, gate, made }: Recalibrated): string[] {
  if (made.kind === "too-few") return [];
  const [before, after] = [made.before, made.after].map(({ error }) => error.toFixed(1));
  return [
    `The gate of ${model} (${gateText(gate)}) is calibrated on ${made.labels + made.earlier} labels of served answers, ECE ${before} before and ${after} after.`,
  ];
}
