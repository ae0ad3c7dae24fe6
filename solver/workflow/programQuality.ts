import type { ProgramSample } from "./programSample";
import type { WorkflowStage } from "./workflow";

/**
 * Quality (0..100) of a program's last answer, from the labels of its stages on the models that answered them. A model of how success
 * arises, not a measurement: labels are of single answers to whole prompts. Every stage works on the last answer among those it reads.
 *
 * - `helps` leaves that answer as it is: the tables do not say what a plan is worth.
 * - `solves` answers anew, with its own label.
 * - `checks` judges the answer and leaves it as it is. Its label says how well it judges: the chance that a model solves the prompt stands for
 *   that of telling right from wrong.
 * - `revises` gives the median of the draft, its own label and the label of the last check it reads. Of right and wrong labels that is all there
 *   is to it: a check that is right has a wrong draft written anew and keeps a right one; one that is wrong keeps a wrong draft and has a right
 *   one written anew. Without a check, its own label.
 * - `votes` gives the median of the answers it reads, its own label among them where their number is even. Wrong answers count as one, as if they agreed.
 * - `joins` gives the mean of the answers it reads.
 *
 * No quality falls where labels rise.
 *
 * @param modelOfRequest by request, index into the sample's models; negative where none answered.
 * @returns NaN where a request has no answer or no label.
 */
export function programQuality(sample: ProgramSample, program: number, modelOfRequest: Int8Array): number {
  const first = sample.firstRequest[program] ?? 0;
  const stages = sample.workflows[sample.workflow[program] ?? 0]?.stages ?? [];
  const labels = stages.map((_, stage) => sample.label[modelOfRequest[first + stage] ?? -1]?.[first + stage] ?? Number.NaN);
  return labels.some(Number.isNaN) ? Number.NaN : qualityOfLabels(stages, labels);
}

/** The same from the labels alone, one a stage. NaN where the last stage has no answer to work on. */
export function qualityOfLabels(stages: readonly WorkflowStage[], labels: readonly number[]): number {
  const answers: number[] = [];
  for (const [at, stage] of stages.entries()) answers.push(answerOf(stage, labels[at] ?? Number.NaN, { stages, labels, answers }));
  return answers[answers.length - 1] ?? Number.NaN;
}

interface StagesBefore {
  readonly stages: readonly WorkflowStage[];
  readonly labels: readonly number[];
  /** NaN where a stage and all it reads have answered nothing yet. */
  readonly answers: readonly number[];
}

function answerOf({ part, reads }: WorkflowStage, label: number, before: StagesBefore): number {
  const read = reads.map((stage) => before.answers[stage] ?? Number.NaN).filter((answer) => !Number.isNaN(answer));
  const draft = read[read.length - 1] ?? Number.NaN;
  switch (part) {
    case "helps":
    case "checks":
      return draft;
    case "solves":
      return label;
    case "revises": {
      const check = reads.findLast((stage) => before.stages[stage]?.part === "checks");
      return check === undefined || Number.isNaN(draft) ? label : median([draft, label, before.labels[check] ?? Number.NaN]);
    }
    case "votes":
      return median(read.length % 2 === 0 ? [...read, label] : read);
    case "joins":
      return read.length === 0 ? label : read.reduce((sum, answer) => sum + answer, 0) / read.length;
  }
}

/** Of an odd number of values. */
const median = (values: readonly number[]): number => [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
