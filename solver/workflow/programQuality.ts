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
 * Where the sample says which requests are misled, a stage that is has no better label of its own than the worst of what it follows: of those that
 * help among what it reads, and of the draft where it revises without a check. Of right and wrong labels, a wrong plan makes what follows it
 * wrong; later stages may repair that, as a revision by a check or a vote that are not misled themselves. Without a word of it nothing misleads.
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
  return labels.some(Number.isNaN) ? Number.NaN : qualityOfLabels(stages, labels, misledStages(sample, program));
}

/** Of the stages of a program, which are misled; undefined where the sample does not say. */
export function misledStages({ misled, firstRequest }: ProgramSample, program: number): Uint8Array | undefined {
  return misled?.subarray(firstRequest[program] ?? 0, firstRequest[program + 1] ?? 0);
}

/** The same from the labels alone, one a stage. NaN where the last stage has no answer to work on. */
export function qualityOfLabels(stages: readonly WorkflowStage[], labels: readonly number[], misled?: Uint8Array): number {
  const answered = noAnswers(stages, misled);
  for (const [at, label] of labels.entries()) answerStage(answered, at, label);
  return answered.answer[stages.length - 1] ?? Number.NaN;
}

/** What the stages of one program have answered so far. */
export interface Answered {
  readonly stages: readonly WorkflowStage[];
  readonly misled: Uint8Array | undefined;
  /** By stage, its own label less what misled it. */
  readonly own: Float64Array;
  /** By stage, the answer that stands after it. NaN where it and all it reads have answered nothing yet. */
  readonly answer: Float64Array;
  /** Room in which a vote sorts its answers. */
  readonly sorted: Float64Array;
}

/** Before any stage has answered. */
export const noAnswers = (stages: readonly WorkflowStage[], misled?: Uint8Array): Answered => ({
  stages,
  misled,
  own: new Float64Array(stages.length).fill(Number.NaN),
  answer: new Float64Array(stages.length).fill(Number.NaN),
  sorted: new Float64Array(stages.length + 1),
});

/** Has a stage answer with a label; those it reads have answered before. It may be made to answer again, and no memory is taken either time. */
export function answerStage(answered: Answered, at: number, label: number): void {
  const { stages, misled, own, answer } = answered;
  const stage = stages[at];
  if (stage === undefined) return;
  const { part, reads } = stage;
  const draft = lastOf(reads, answer);
  const check = lastCheck(stages, reads);
  let self = label;
  if (misled?.[at] === 1) {
    for (const read of reads) if (stages[read]?.part === "helps") self = Math.min(self, own[read] ?? self);
    if (part === "revises" && check < 0 && !Number.isNaN(draft)) self = Math.min(self, draft);
  }
  own[at] = self;
  switch (part) {
    case "helps":
    case "checks":
      answer[at] = draft;
      return;
    case "solves":
      answer[at] = self;
      return;
    case "revises":
      answer[at] = check < 0 || Number.isNaN(draft) ? self : medianOfThree(draft, self, own[check] ?? Number.NaN);
      return;
    case "votes":
      answer[at] = vote(reads, answered, self);
      return;
    case "joins":
      answer[at] = join(reads, answer, self);
  }
}

/** The answer of the last that has one. */
function lastOf(reads: readonly number[], answer: Float64Array): number {
  for (let at = reads.length - 1; at >= 0; at -= 1) {
    const read = answer[reads[at] ?? -1] ?? Number.NaN;
    if (!Number.isNaN(read)) return read;
  }
  return Number.NaN;
}

/** The last that checks, by index; -1 where none does. */
function lastCheck(stages: readonly WorkflowStage[], reads: readonly number[]): number {
  for (let at = reads.length - 1; at >= 0; at -= 1) if (stages[reads[at] ?? -1]?.part === "checks") return reads[at] ?? -1;
  return -1;
}

const medianOfThree = (one: number, two: number, three: number): number =>
  Math.max(Math.min(one, two), Math.min(Math.max(one, two), three));

/** The median of the answers that are there, the own among them where their number is even. */
function vote(reads: readonly number[], { answer, sorted }: Answered, self: number): number {
  let count = 0;
  for (const read of reads) count = insert(sorted, count, answer[read] ?? Number.NaN);
  if (count % 2 === 0) count = insert(sorted, count, self);
  return sorted[count >> 1] ?? Number.NaN;
}

/** Puts a value among ascending ones, and nothing that is not a number. Returns how many there are. */
function insert(sorted: Float64Array, count: number, value: number): number {
  if (Number.isNaN(value)) return count;
  let at = count;
  for (; at > 0 && (sorted[at - 1] ?? 0) > value; at -= 1) sorted[at] = sorted[at - 1] ?? 0;
  sorted[at] = value;
  return count + 1;
}

/** The mean of the answers that are there; the own where none is. */
function join(reads: readonly number[], answer: Float64Array, self: number): number {
  let [sum, count] = [0, 0];
  for (const read of reads) {
    const each = answer[read] ?? Number.NaN;
    if (Number.isNaN(each)) continue;
    sum += each;
    count += 1;
  }
  return count === 0 ? self : sum / count;
}
