import type { Measure, ProfileJob } from "@/server/contracts/studio";
import type { Extraction } from "@/solver/judging/extract";
import type { Option } from "../ui/Field";
import { formatCount, formatCounted } from "../ui/format";

/** A measure that can be the judged score or the label, or why it cannot. */
export interface MeasureChoice {
  readonly id: string;
  readonly name: string;
  readonly refusal: string | null;
}

const noGate: Readonly<Partial<Record<Measure["kind"], string>>> = {
  pairwise: "a gate sees one answer, not two",
  exact: "a gate has no reference answer",
  "unit-test": "a gate has no test",
};

const gatesOf = ({ measures }: Pick<ProfileJob, "measures">): readonly MeasureChoice[] =>
  measures.map(({ id, name, kind, done }) => ({ id, name, refusal: noGate[kind] ?? (done === 0 ? "it scored nothing yet" : null) }));

const labelsOf = ({ measures }: Pick<ProfileJob, "measures">, gate: string | null): readonly MeasureChoice[] =>
  measures.map(({ id, name, done }) => ({
    id,
    name,
    refusal: id === gate ? "it is the gate: another measure gives the quality" : done === 0 ? "it scored nothing yet" : null,
  }));

export interface ToWorkloadPicture {
  readonly gates: readonly MeasureChoice[];
  readonly labels: readonly MeasureChoice[];
  /** null: none can be. */
  readonly gate: string | null;
  readonly label: string | null;
  /** Models whose answers those of the others can be compared with; null: none can, or texts of answers are not stored. */
  readonly peers: readonly Option[] | null;
  /** The part of answers that is compared with a peer's. */
  readonly part: Extraction;
  /** The obstacle; null: none. */
  readonly blocked: string | null;
  /** Notes to read before, one sentence each. */
  readonly notes: readonly string[];
}

/** The measures that a workload would use, from the selection (null: nothing yet) and the available ones. */
export function prepareMakeWorkload(
  job: ProfileJob,
  chosen: { readonly gate: string | null; readonly label: string | null; readonly part: Extraction | null; readonly name: string },
): ToWorkloadPicture {
  const gates = gatesOf(job);
  const allowed = (choices: readonly MeasureChoice[], id: string | null): string | null =>
    choices.find((each) => each.refusal === null && each.id === id)?.id ?? choices.find(({ refusal }) => refusal === null)?.id ?? null;
  const gate = allowed(gates, chosen.gate);
  const labels = labelsOf(job, gate);
  const label = allowed(labels, chosen.label);
  const exact = job.request.measures.find((measure) => measure.kind === "exact");
  return {
    ...{ gates, labels, gate, label, peers: peersOf(job), part: chosen.part ?? exact?.extract ?? "whole" },
    ...{ blocked: blockedBy(job, gate, label, chosen.name), notes: notesOf(job, gate, label) },
  };
}

/** The value without a peer. */
export const NO_PEER = "";

function peersOf({ hasAnswers, request: { models, gates } }: ProfileJob): readonly Option[] | null {
  if (!hasAnswers || models.length < 2) return null;
  const none = gates.samples === null ? "nothing" : "samples of the same model";
  return [{ value: NO_PEER, text: none }, ...models.map(({ model }) => ({ value: model, text: `answers of ${model}` }))];
}

function blockedBy(job: ProfileJob, gate: string | null, label: string | null, name: string): string | null {
  if (job.total.done === 0) return "No prompt was answered yet.";
  if (gate === null) return "No judge graded answers, so the gate's score is unknown: run a profile with the gateway's judge as a measure.";
  if (label === null)
    return "Gate and label need two different measures and there is only one: run a profile with a second judge, references or tests.";
  return name.trim() === "" ? "Give the workload a name." : null;
}

/** Prompts that can be in a workload: each needs an answer and both scores from every model. */
function mostWhole({ prompts, models, measures }: ProfileJob, gate: string | null, label: string | null): number {
  const scored = measures.filter(({ id }) => id === gate || id === label).map((each) => Math.floor(each.scored / models.length));
  return Math.min(prompts, ...models.map(({ done }) => done), ...scored);
}

function notesOf(job: ProfileJob, gate: string | null, label: string | null): readonly string[] {
  const measureOf = (id: string | null) => job.measures.find((each) => each.id === id);
  const kindOf = (id: string | null) => measureOf(id)?.kind;
  const left = job.total.planned - job.total.done - job.total.failed;
  const whole = mostWhole(job, gate, label);
  const isUnscored = [gate, label].some((id) => Object.values(measureOf(id)?.unscored ?? {}).some((count) => count > 0));
  return [
    ...(whole < job.prompts
      ? [
          `At most ${formatCount(whole)} of ${formatCounted(job.prompts, "prompt")} have an answer of every model and both scores: the others are left out.`,
        ]
      : []),
    ...(left > 0
      ? [
          `${formatCounted(left, "call")} are not made yet. Prompts are asked in random order, so the answered ones are a random part of the sample.`,
        ]
      : []),
    ...(isUnscored ? ["Answers without a score are not missing at random: the rest may be easier or harder than the sample."] : []),
    ...(kindOf(gate) === "reference"
      ? ["While serving, the gateway's judge sees no reference answer: it has less information than this measure."]
      : []),
    ...(kindOf(label) === "pairwise"
      ? ["A label from pairs is not a share of right answers: 50 means as good as the reference model."]
      : []),
  ];
}

/** How far the making of a workload is, in a sentence. Most of the time goes into scorers that read long texts. */
export function makingText(
  making: { readonly training: { readonly model: string; readonly done: number; readonly of: number } | null } | null,
): string {
  const training = making?.training ?? null;
  if (training === null) return "Reading the measurements …";
  return `Training scorers that read words: ${training.model}, ${training.done} of ${training.of} done. With long texts one takes seconds.`;
}
