import { readFileSync, writeFileSync } from "node:fs";
import { reroutePlan } from "@/server/api/plans/reroutePlan";
import type { Outcome } from "@/server/contracts/studio";
import { issueSentence } from "@/server/lib/issueSentence";
import { readPlan } from "@/server/planning/planner/readPlan";
import { isRecord } from "@/solver/collections/isRecord";
import {
  type ComparedAnswers,
  type ConfidenceMeasure,
  type ConfidenceReading,
  type GateDocument,
  gateSchema,
  isCalibrated,
} from "@/solver/gates/gateDocument";
import { gateText, isSameComparison } from "@/solver/gates/gates";
import type { Extraction } from "@/solver/judging/extract";
import type { Plan } from "@/solver/plan/plan";
import { cascadeOf, gatesOf, type PolicyDocument, policySchema, withSinglesPolicy } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import type { GateFigures, StageFigures, TournamentFigures } from "@/solver/tournament/tournamentFigures";

/** What a workload's table does not say of its gates, and which of them is written. */
export interface GateChoice {
  /** From 1; left out: every stage that has a threshold and a tournament. */
  readonly stage?: number;
  /** A gate of the tournament; left out: the one that it chooses. */
  readonly gate?: string;
  /** How the column `confidence` was made of token probabilities; left out: as the workload says, else the smallest. */
  readonly measure?: ConfidenceMeasure;
  /** The part of an answer that is compared, or searched for; left out: as the workload says, else the whole. */
  readonly answer?: Extraction;
  /** With whom answers were compared in the column `agreement`; left out: as the workload says. */
  readonly samples?: { readonly count: number; readonly temperature: number };
  readonly peers?: readonly string[];
}

type CascadePolicy = Extract<PolicyDocument, { kind: "cascade" }>;

/**
 * Puts gates of a tournament, each with its calibration and a scorer with its weights, into the policy of a plan or of a policy document
 * (JSON). A plan is sealed again: it keeps its figures, and its first note says so.
 *
 * @returns the sentences that say what was written, or why nothing was; the file is left alone then.
 */
export function writeGates(path: string, tournament: TournamentFigures, choice: GateChoice): Outcome<{ readonly written: string[] }> {
  const read = readDocument(path);
  if (!read.ok) return read;
  const policy = read.plan === null ? read.policy : read.plan.policy;
  const cascade = cascadeOf(policy);
  if (cascade === null) return { ok: false, message: `${path}: only a cascade has gates; this policy is ${policy.kind}.` };
  const gated = withGates(cascade, tournament, choice);
  if (!gated.ok) return { ok: false, message: `${path}: ${gated.message}` };
  const made = withSinglesPolicy(policy, gated.policy);
  const document = read.plan === null ? { ok: true as const, plan: made } : reroutePlan(read.plan, named(read.plan, made));
  if (!document.ok) return { ok: false, message: `${path}: ${document.message}` };
  try {
    writeFileSync(path, `${JSON.stringify(document.plan, null, 2)}\n`);
  } catch {
    return { ok: false, message: `${path} cannot be written.` };
  }
  return { ok: true, written: gated.written };
}

const named = ({ metadata: { name } }: Plan, policy: PolicyDocument) => ({ policy, name });

type Read = Outcome<{ readonly plan: Plan } | { readonly plan: null; readonly policy: PolicyDocument }>;

function readDocument(path: string): Read {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { ok: false, message: `${path} is no JSON file that can be read.` };
  }
  if (isRecord(document) && document.kind === "Plan") {
    const read = readPlan(document);
    return read.ok ? read : { ok: false, message: `${path}: ${read.message}` };
  }
  const policy = policySchema.safeParse(document);
  if (!policy.success) return { ok: false, message: `${path} is neither a plan nor a policy. ${issueSentence(policy.error)}` };
  const refusal = policyRefusal(policy.data);
  return refusal === null ? { ok: true, plan: null, policy: policy.data } : { ok: false, message: `${path}: ${refusal}` };
}

type Gated = Outcome<{ readonly policy: CascadePolicy; readonly written: string[] }>;

/** A cascade with other gates at the chosen stages. */
function withGates(policy: CascadePolicy, tournament: TournamentFigures, choice: GateChoice): Gated {
  const { stages, thresholds } = policy;
  const compared = (stage: number): StageFigures | undefined =>
    tournament.stages.find(({ model }) => model === stages[stage]?.model && stage < thresholds.length);
  const wanted =
    choice.stage === undefined ? thresholds.flatMap((at, stage) => (at > 0 && compared(stage) ? [stage] : [])) : [choice.stage - 1];
  if (wanted.length === 0) return { ok: false, message: "no stage with a threshold above 0 is in the tournament." };
  const reading = readingOf(tournament, choice);
  if (reading === null)
    return {
      ok: false,
      message: `the workload's column confidence is of the measure ${tournament.confidence?.measure}, which --measure ${choice.measure} denies.`,
    };
  const answers = comparedOf(tournament, choice);
  const gates = [...gatesOf(policy)];
  const written: string[] = [];
  for (const stage of wanted) {
    const model = stages[stage]?.model;
    const figures = compared(stage);
    if (model === undefined || stage >= thresholds.length)
      return { ok: false, message: `there is no gate at stage ${stage + 1}: the cascade has ${thresholds.length}.` };
    if (thresholds[stage] === 0)
      return { ok: false, message: `the threshold of stage ${stage + 1} is 0, so that no gate is asked there: raise it first.` };
    if (figures === undefined) return { ok: false, message: `the workload has no tournament of the gates of ${model}.` };
    const gate = gateOf(figures, choice, { compared: answers, reading });
    if (!gate.ok) return { ok: false, message: `stage ${stage + 1}: ${gate.message}` };
    gates[stage] = gate.gate;
    written.push(`Stage ${stage + 1}, ${model}: ${gateText(gate.gate)}, ${calibrationText(gate.gate, tournament)}.`);
  }
  const gated = { ...policy, gates };
  const fault = policyRefusal(gated);
  return fault === null ? { ok: true, policy: gated, written } : { ok: false, message: fault };
}

const calibrationText = (gate: GateDocument, { planningPrompts }: TournamentFigures): string =>
  isCalibrated(gate) ? `calibrated on ${planningPrompts} prompts` : "not calibrated";

/** What the column of confidence holds; null where workload and choice contradict each other. */
function readingOf({ confidence }: TournamentFigures, { measure, answer }: GateChoice): ConfidenceReading | null {
  if (confidence !== undefined) return measure === undefined || measure === confidence.measure ? confidence : null;
  return { measure: measure ?? "minimum", ...(measure === "answer-span" ? { answer: answer ?? "whole" } : {}) };
}

/** What the column of agreement compares; null where workload and choice contradict each other. */
function comparedOf({ agreement }: TournamentFigures, { answer, samples, peers }: GateChoice): ComparedAnswers | null {
  const chosen = { answer: answer ?? agreement?.answer ?? "whole", ...(samples && { samples }), ...(peers && { peers: [...peers] }) };
  if (agreement === undefined) return chosen;
  const whole = samples === undefined && peers === undefined ? { ...agreement, answer: chosen.answer } : chosen;
  return isSameComparison(whole, agreement) ? agreement : null;
}

/** The document of a stage's chosen gate. */
function gateOf(
  { gates, verdict }: StageFigures,
  choice: GateChoice,
  { compared, reading }: Pick<Held, "compared" | "reading">,
): Outcome<{ readonly gate: GateDocument }> {
  const best = verdict.kind === "no-gates" ? undefined : verdict.gate;
  const figures = gates.find(({ name }) => name === (choice.gate ?? best));
  if (figures === undefined)
    return {
      ok: false,
      message: `there is no gate ${choice.gate ?? ""} in the tournament; there are ${gates.map(({ name }) => name).join(", ")}.`,
    };
  if (figures.modelled)
    return {
      ok: false,
      message: `the scores of the ${figures.name} are modelled, and a calibration to them fits no real one: name another gate with --gate.`,
    };
  if (reading.measure !== "minimum" && figures.scorer?.weights.some(({ feature }) => feature === "minimum-probability"))
    return {
      ok: false,
      message: `the scorer has learnt from the column confidence as the smallest token probability, which --measure ${reading.measure} denies.`,
    };
  if (figures.kind === "agreement" && compared === null)
    return { ok: false, message: "the workload says what its column agreement compares, and --answer, --samples or --peers deny it." };
  const parsed = gateSchema.safeParse(documentOf(figures, { answer: choice.answer ?? "whole", compared, reading }));
  return parsed.success
    ? { ok: true, gate: parsed.data }
    : { ok: false, message: `${figures.name}: ${issueSentence(parsed.error, "gate")}` };
}

interface Held {
  readonly answer: Extraction;
  readonly compared: ComparedAnswers | null;
  readonly reading: ConfidenceReading;
}

function documentOf({ kind, calibration: fitted, scorer, sequence }: GateFigures, { answer, compared, reading }: Held): object {
  const calibration = fitted === null ? {} : { calibration: fitted };
  switch (kind) {
    case "judge":
      return { kind, ...calibration };
    case "confidence":
      return { kind, ...reading, ...calibration };
    case "agreement":
      return { kind, ...compared, ...calibration };
    case "scorer":
      return { kind, answer, ...scorer, ...calibration };
    case "sequence":
      // What the workload does not say of its confidence, the flags do.
      return { ...sequence, first: sequence?.first.map((step) => ({ ...step, gate: { ...step.gate, ...reading } })) };
    case "router":
      return { kind };
  }
}
