import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirroredAnswer } from "@/server/contracts/gateway/gatewayControls";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { calibratedScore } from "@/solver/gates/gates";
import { mean } from "@/solver/numeric/quantile";
import type { Plan } from "@/solver/plan/plan";
import { gatesOf, isByThresholds, singleStagesOf, thresholdsOf } from "@/solver/plan/policySchema";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { observedColumns } from "@/solver/stageGates/observedColumns";
import { stageGate } from "@/solver/stageGates/stageGate";
import type { ObservedVisit } from "@/solver/workload/similarRows";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";

type StageRecord = Decision["stages"][number];

/** An observed answer with the score of the plan's own gate. */
export interface ScoredVisit extends ObservedVisit {
  /** As the test of drift compares it, 0..100; null: the plan's gate gave none. */
  readonly score: number | null;
}

/**
 * Reads scores of the gates of one plan from a gateway's records; those of any other gate are null, since they are not compared, and so are
 * those that a gate took from a part of the answers that it should have compared. A mirror keeps none of these.
 */
export interface GateScores {
  read(stage: StageRecord): ScoredVisit;
  readMirrored(answer: MirroredAnswer): ScoredVisit;
}

/** The gate of a stage in a plan. */
interface PlannedGate {
  readonly document: GateDocument;
  /** null: none routes by it. */
  readonly threshold: number | null;
  /** Mean raw agreement of the planning answers that the stage accepts, and of the others; null for other gates. */
  readonly sides: { readonly accepted: number; readonly escalated: number } | null;
}

const judgeAlone: PlannedGate = { document: { kind: "judge" }, threshold: null, sides: null };

/** The gates of a plan's stages by model; the last stage has none and is scored by the judge, in the mirror alone. */
export function plannedGates({ policy }: Pick<Plan, "policy">): ReadonlyMap<string, Omit<PlannedGate, "sides">> {
  const thresholds = isByThresholds(policy) || policy.kind === "just-in-time" ? thresholdsOf(policy) : [];
  const models = singleStagesOf(policy);
  return new Map(
    gatesOf(policy).flatMap((document, stage) => {
      const model = models[stage];
      return model === undefined ? [] : [[model, { document, threshold: thresholds[stage] ?? null }] as const];
    }),
  );
}

/**
 * Whether a gate compares answers until the verdict is sure: the share that agrees is then of the first ones, which is not how it was
 * planned. Only the verdict is.
 */
export const stopsEarly = ({ kind }: Pick<GateDocument, "kind">): boolean => kind === "agreement";

/** How a score counts whose gate stops early: 100 where the stage accepts the answer, else 0. */
export const verdictScore = (score: number, threshold: number): number => (score >= threshold ? 100 : 0);

/** Reads the scores of a plan's gates. */
export function gateScoresOf(plan: Pick<Plan, "policy">, workload: Workload): GateScores {
  const gates = new Map(
    [...plannedGates(plan)].map(([model, gate]) => [
      model,
      { ...gate, sides: stopsEarly(gate.document) ? sidesOf(gate, model, workload) : null },
    ]),
  );
  const gateOf = (model: string): PlannedGate => gates.get(model) ?? judgeAlone;
  return {
    read(stage) {
      const { model, outputTokens, judgedScore } = stage;
      const gate = gateOf(model);
      const unscored = { model, outputTokens, judged: null, score: null };
      if (judgedScore === null || (stage.gate?.kind ?? "judge") !== gate.document.kind) return unscored;
      if (!stopsEarly(gate.document)) return { ...unscored, ...columnsOf(gate, stage, judgedScore), score: judgedScore };
      // With another threshold than the plan's the comparison stopped elsewhere.
      if (gate.threshold === null || stage.threshold !== gate.threshold) return unscored;
      const compared = comparedOf(gate.document, gate.threshold, stage.gate);
      if (compared === "part") return unscored;
      const side = judgedScore >= gate.threshold ? gate.sides?.accepted : gate.sides?.escalated;
      const columns = compared === "whole" ? columnsOf(gate, stage, judgedScore) : side === undefined ? {} : { agreement: side };
      return { ...unscored, ...columns, score: verdictScore(judgedScore, gate.threshold) };
    },
    readMirrored(answer) {
      const { model, outputTokens, score } = answer;
      const gate = gateOf(model);
      const unscored = { model, outputTokens, judged: null, score: null };
      if (score === null || answer.gate?.kind !== gate.document.kind) return unscored;
      return { ...unscored, ...columnsOf(gate, answer, score), score };
    },
  };
}

/**
 * What a stage compared an answer with: all further answers, as many as make the verdict sure whatever the others are, or only those for which
 * an engine was free in time. The last is another gate than was planned, and how often it is used depends on the load.
 */
function comparedOf(document: GateDocument, threshold: number, record: StageRecord["gate"]): "whole" | "sure" | "part" {
  const { calls = [], raw: [raw] = [] } = record ?? {};
  // The structure of the answer is broken: it scores 0 without a comparison.
  if (raw === null) return "whole";
  const given = calls.filter(({ outcome }) => outcome === "answered").length;
  const open = calls.filter(({ outcome }) => outcome === "cancelled").length;
  if (raw === undefined || given === 0 || given + open < calls.length) return "part";
  if (open === 0) return "whole";
  const agreeing = Math.round((raw * given) / 100);
  const calibration = document.kind === "sequence" ? undefined : document.calibration;
  const isAccepted = (agree: number): boolean => roundedScore(calibratedScore((100 * agree) / calls.length, calibration)) >= threshold;
  return isAccepted(agreeing) === isAccepted(agreeing + open) ? "sure" : "part";
}

/** To a hundredth, as in the gateway. */
const roundedScore = (score: number): number => Math.round(score * 100) / 100;

/** Records of earlier gateways have no raw scores: an uncalibrated judge's score is one. */
function columnsOf({ document }: PlannedGate, answer: Pick<MirroredAnswer, "gate" | "inputTokens" | "outputTokens">, score: number) {
  const isRaw = document.kind === "judge" && document.calibration === undefined;
  const columns = observedColumns(document, answer.gate?.raw ?? (isRaw ? [score] : []), answer);
  return { ...columns, judged: columns.judged ?? null };
}

function sidesOf({ document, threshold }: Omit<PlannedGate, "sides">, model: string, workload: Workload): PlannedGate["sides"] {
  const gate = stageGate(workload, model, document);
  const raw = workload.outcomes.models.find((own) => own.model === model)?.agreement;
  if (isRefused(gate) || raw === undefined || threshold === null) return null;
  const rows = Array.from(splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning);
  const sideOf = (accepted: boolean): number =>
    mean(rows.filter((row) => (gate.scores[row] ?? 0) >= threshold === accepted).map((row) => raw[row] ?? 0));
  const [accepted, escalated] = [sideOf(true), sideOf(false)];
  return { accepted: Number.isNaN(accepted) ? 100 : accepted, escalated: Number.isNaN(escalated) ? 0 : escalated };
}
