import type { ProgramSample } from "./programSample";
import type { WorkflowStage } from "./workflow";

/**
 * Quality (0..100) of a program's last answer, from the labels of its stages on the models that answered them. A model of how success
 * arises, not a measurement: labels are of single answers to whole prompts. Every stage works on the last answer among those it reads.
 *
 * - `helps` leaves that answer unchanged: the tables do not contain the value of a plan.
 * - `solves` gives a new answer, with its own label.
 * - `checks` judges the answer and leaves it unchanged. Its label is the quality of its judgement: the probability that a model solves the
 *   prompt is used as that of distinguishing right from wrong.
 * - `revises` gives the median of the draft, its own label and the label of the last check it reads. For labels that are right or wrong
 * this
 *   means: a correct check has a wrong draft rewritten and keeps a right one; a wrong check keeps a wrong draft and has a right
 *   one rewritten. Without a check, its own label.
 * - `votes` gives the median of the answers it reads, including its own label where their number is even. Wrong answers count as equal, as
 * if they agreed.
 * - `joins` gives the mean of the answers it reads.
 *
 * Where the sample marks misled requests, the label of a misled stage is capped at the worst answer that it follows: of those with `helps`
 * among its inputs, and of the draft where it revises without a check. For labels that are right or wrong, a wrong plan makes what follows
 * it wrong; later stages may repair that, such as a revision by a check or a vote that are not misled themselves. Without marks nothing
 * misleads.
 *
 * Quality never falls where labels rise.
 *
 * @param modelOfRequest by request, index into the sample's models; negative for no answer.
 * @param givenBy of a request that was skipped, the request whose answer it gives, and undefined for any other; left out: none was.
 * @returns NaN where a request has no answer or no label.
 */
export function programQuality(
  sample: ProgramSample,
  program: number,
  modelOfRequest: Int8Array,
  givenBy: (request: number) => number | undefined = () => undefined,
): number {
  const first = sample.firstRequest[program] ?? 0;
  const stages = sample.workflows[sample.workflow[program] ?? 0]?.stages ?? [];
  const given = stages.map((_, stage) => givenBy(first + stage));
  const labels = stages.map((_, stage) => sample.label[modelOfRequest[first + stage] ?? -1]?.[first + stage] ?? Number.NaN);
  if (labels.some((label, stage) => Number.isNaN(label) && given[stage] === undefined)) return Number.NaN;
  const stageOf = (request: number | undefined): number | undefined => (request === undefined ? undefined : request - first);
  return qualityOfLabels(stages, labels, { misled: misledStages(sample, program), given: given.map(stageOf) });
}

/** Which stages of a program are misled; undefined where the sample has no marks. */
export function misledStages({ misled, firstRequest }: ProgramSample, program: number): Uint8Array | undefined {
  return misled?.subarray(firstRequest[program] ?? 0, firstRequest[program + 1] ?? 0);
}

/**
 * The same from the labels alone, one per stage. NaN where the last stage has no answer to work on.
 *
 * @param options.given by stage that was skipped, the stage whose answer it gives; undefined for any other.
 */
export function qualityOfLabels(
  stages: readonly WorkflowStage[],
  labels: readonly number[],
  { misled, given = [] }: { readonly misled?: Uint8Array | undefined; readonly given?: readonly (number | undefined)[] } = {},
): number {
  const answered = noAnswers(stages, misled);
  for (const [at, label] of labels.entries()) {
    const from = given[at];
    if (from === undefined) answerStage(answered, at, label);
    else answered.answer[at] = answered.answer[from] ?? Number.NaN;
  }
  return answered.answer[stages.length - 1] ?? Number.NaN;
}

/** The answers of the stages of one program so far. */
export interface Answered {
  readonly stages: readonly WorkflowStage[];
  readonly misled: Uint8Array | undefined;
  /** By stage, its own label capped by the answer that misled it. */
  readonly own: Float64Array;
  /** By stage, the current answer after it. NaN where neither it nor any stage it reads has answered yet. */
  readonly answer: Float64Array;
  /** Buffer in which a vote sorts its answers. */
  readonly sorted: Float64Array;
}

/** Resets to the state before any answer. */
export const noAnswers = (stages: readonly WorkflowStage[], misled?: Uint8Array): Answered => ({
  stages,
  misled,
  own: new Float64Array(stages.length).fill(Number.NaN),
  answer: new Float64Array(stages.length).fill(Number.NaN),
  sorted: new Float64Array(stages.length + 1),
});

/** Sets a stage's answer with a label; the stages it reads have answered before. It may be called again for a stage. Never allocates. */
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

/** The index of the last that checks; -1 for none. */
function lastCheck(stages: readonly WorkflowStage[], reads: readonly number[]): number {
  for (let at = reads.length - 1; at >= 0; at -= 1) if (stages[reads[at] ?? -1]?.part === "checks") return reads[at] ?? -1;
  return -1;
}

const medianOfThree = (one: number, two: number, three: number): number =>
  Math.max(Math.min(one, two), Math.min(Math.max(one, two), three));

/** The median of the available answers, including its own where their number is even. */
function vote(reads: readonly number[], { answer, sorted }: Answered, self: number): number {
  let count = 0;
  for (const read of reads) count = insert(sorted, count, answer[read] ?? Number.NaN);
  if (count % 2 === 0) count = insert(sorted, count, self);
  return sorted[count >> 1] ?? Number.NaN;
}

/** Inserts a value into ascending ones; ignores NaN. Returns the number of values. */
function insert(sorted: Float64Array, count: number, value: number): number {
  if (Number.isNaN(value)) return count;
  let at = count;
  for (; at > 0 && (sorted[at - 1] ?? 0) > value; at -= 1) sorted[at] = sorted[at - 1] ?? 0;
  sorted[at] = value;
  return count + 1;
}

/** The mean of the available answers; its own where there is none. */
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
