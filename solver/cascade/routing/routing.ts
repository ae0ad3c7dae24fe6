import { type StartBelow, startScores } from "@/solver/plan/directStart";
import type { OutcomeTable } from "@/solver/workload/workload";

/** The prompts for planning: columns of the outcome table, restricted to some models and to the planning part. */
export interface PlanningSample {
  /** Model cards, smallest first. */
  readonly models: readonly string[];
  readonly prompts: number;
  readonly inputTokens: Int32Array;
  /** Per model, per prompt. */
  readonly outputTokens: readonly Int32Array[];
  readonly label: readonly Float64Array[];
  /** Scores of the gates: the judge's, unless another gate is planned with. */
  readonly judged: readonly Float64Array[];
  /** Per model, per prompt: 1 where the gate of the model's answer asks the judge; left out: the judge is the gate of all. */
  readonly asksJudge?: readonly Uint8Array[];
  /** A router's scores from each prompt; left out where there is no router. */
  readonly routerScore?: readonly Float64Array[];
}

/** The results of a routing on the planning sample. */
export interface Routed {
  /** Stage position at which each prompt starts. */
  readonly start: Uint8Array;
  /** Stage position at which each prompt is accepted; it visits all from its start to there, or its `visits`. */
  readonly exit: Uint8Array;
  /** Stages that each prompt visits, bit s for stage s, where some are passed over between start and exit; left out: none is. */
  readonly visits?: Uint8Array;
  /** Stages whose answers to each prompt are scored, in the same form; left out: those of every visit to a judged stage. */
  readonly scored?: Uint8Array;
  /** Label of the accepted answer per prompt, 0..100. */
  readonly accepted: Float64Array;
  /** Share of prompts that visit each stage (the source's processing ratio p_i); the first is 1 without a direct start. */
  readonly share: readonly number[];
  /** Share of prompts that start at each stage; left out where all start at the first. */
  readonly startShare?: readonly number[];
  /** Whether the answers of each stage but the last get a score. */
  readonly judged: readonly boolean[];
  /** Judge calls for each request, on average; left out where every answer of a judged stage is judged. */
  readonly judgements?: number;
  /** Mean accepted label: Q of the source. */
  readonly quality: number;
}

/** The rows `prompts` of an outcome table for `models`, in that order. Throws when a model is not in the table: a bug. */
export function planningSample(table: OutcomeTable, prompts: ArrayLike<number>, models: readonly string[]): PlanningSample {
  const columns = models.map((model) => {
    const column = table.models.find((candidate) => candidate.model === model);
    if (column === undefined) throw new Error(`no outcomes of ${model} in the table`);
    return column;
  });
  const rows = Int32Array.from(prompts);
  const routerScores = columns.flatMap(({ routerScore }) => (routerScore === undefined ? [] : [routerScore]));
  return {
    models,
    prompts: rows.length,
    inputTokens: rows.map((row) => table.inputTokens[row] ?? 0),
    outputTokens: columns.map((column) => rows.map((row) => column.outputTokens[row] ?? 0)),
    label: columns.map((column) => Float64Array.from(rows, (row) => column.label[row] ?? 0)),
    judged: columns.map((column) => Float64Array.from(rows, (row) => column.judged[row] ?? 0)),
    ...(routerScores.length === columns.length
      ? { routerScore: routerScores.map((scores) => Float64Array.from(rows, (row) => scores[row] ?? 0)) }
      : {}),
  };
}

/**
 * Sends every prompt of the sample through the cascade (Cascadia, section 3.3): stage s's answer is accepted when its judged
 * score is at least `thresholds[s]`; the last stage's always is. Gates see judged scores, quality counts labels.
 *
 * @param stages indices into `sample.models`, any ordered subset; models not named are absent.
 * @param startBelow each prompt starts at the first stage whose router score is at least the stage's, or at the last where there is none; 0
 * lets all start at the first.
 */
export function routePrompts(
  sample: PlanningSample,
  stages: readonly number[],
  thresholds: readonly number[],
  startBelow: StartBelow = 0,
): Routed {
  const count = sample.prompts;
  const last = stages.length - 1;
  const start = startStages(sample, stages, startBelow);
  const exit = start.slice();
  const accepted = new Float64Array(count);
  const share: number[] = [];
  let sum = 0;
  let asked = 0;
  // Stage by stage over flat columns: this runs once per evaluated threshold vector.
  for (const [stage, model] of stages.entries()) {
    const judged = sample.judged[model] ?? new Float64Array(count);
    const label = sample.label[model] ?? new Float64Array(count);
    const threshold = stage < last ? (thresholds[stage] ?? 0) : Number.NEGATIVE_INFINITY;
    const asks = threshold > 0 ? sample.asksJudge?.[model] : undefined;
    let visits = 0;
    for (let prompt = 0; prompt < count; prompt += 1) {
      if (exit[prompt] !== stage) continue;
      visits += 1;
      if (asks !== undefined) asked += asks[prompt] ?? 0;
      if ((judged[prompt] ?? 0) >= threshold) {
        const value = label[prompt] ?? 0;
        accepted[prompt] = value;
        sum += value;
      } else {
        exit[prompt] = stage + 1;
      }
    }
    share.push(visits / count);
  }
  const startShare = startBelow === 0 ? {} : { startShare: shareOfEach(start, stages.length) };
  const judgements = sample.asksJudge === undefined ? {} : { judgements: asked / count };
  return { start, exit, accepted, share, ...startShare, judged: judgedStages(thresholds), ...judgements, quality: sum / count };
}

/** Whether answers get a score, by stage: not at a threshold of 0, which every score reaches. The last stage's never are. */
export const judgedStages = (thresholds: readonly number[]): readonly boolean[] => thresholds.map((threshold) => threshold > 0);

/** Whether an answer of a stage to a prompt that visits it is scored. */
export const isScored = ({ judged, scored }: Pick<Routed, "judged" | "scored">, prompt: number, stage: number): boolean =>
  judged[stage] === true && (scored === undefined || (((scored[prompt] ?? 0) >> stage) & 1) === 1);

/** Prompts (positions in the sample) whose answer of a stage is scored, in sample order. */
export function promptsScored(routed: Pick<Routed, "start" | "exit" | "visits" | "judged" | "scored">, stage: number): Int32Array {
  const reaching = promptsReaching(routed, stage);
  if (routed.judged[stage] === true && routed.scored === undefined) return reaching;
  return reaching.filter((prompt) => isScored(routed, prompt, stage));
}

/**
 * Calls of a stage's engines for each request, on average: its answers, and the further ones that their gate asks for where it scores them.
 *
 * @param further answers for each scored one.
 */
export const stageCallsPerRequest = (routed: Omit<Routed, "accepted">, stage: number, further: number): number =>
  (routed.share[stage] ?? 0) + (further === 0 ? 0 : (further * promptsScored(routed, stage).length) / routed.exit.length);

/**
 * Judgements for each request, on average.
 *
 * @param share of the requests that visit each stage, 0..1.
 */
export const judgementsPerRequest = (share: readonly number[], thresholds: readonly number[]): number =>
  thresholds.reduce((sum, threshold, stage) => sum + (threshold > 0 ? (share[stage] ?? 0) : 0), 0);

/** The same of a routing whose gates may leave the judge out. */
export const judgementsOf = (
  { share, judgements }: Pick<Routed, "share"> & { readonly judgements?: number | undefined },
  thresholds: readonly number[],
): number => judgements ?? judgementsPerRequest(share, thresholds);

/** Stage position at which each prompt starts. Throws where a direct start is requested for a sample without router scores: a bug. */
function startStages({ prompts, routerScore }: PlanningSample, stages: readonly number[], startBelow: StartBelow): Uint8Array {
  const start = new Uint8Array(prompts);
  if (startBelow === 0) return start;
  if (routerScore === undefined) throw new Error("a direct start needs router scores");
  start.fill(stages.length - 1);
  const least = startScores(startBelow, stages.length);
  for (let stage = stages.length - 2; stage >= 0; stage -= 1) {
    const scores = routerScore[stages[stage] ?? 0] ?? new Float64Array(prompts);
    const own = least[stage] ?? 0;
    for (let prompt = 0; prompt < prompts; prompt += 1) if ((scores[prompt] ?? 0) >= own) start[prompt] = stage;
  }
  return start;
}

export function shareOfEach(start: Uint8Array, stages: number): number[] {
  const prompts = new Array<number>(stages).fill(0);
  for (const stage of start) prompts[stage] = (prompts[stage] ?? 0) + 1;
  return prompts.map((count) => count / start.length);
}

/** Prompts (positions in the sample) that visit a stage, in sample order: its request list. */
export function promptsReaching(routed: Pick<Routed, "start" | "exit" | "visits">, stage: number): Int32Array {
  const prompts = new Int32Array(routed.exit.length);
  let count = 0;
  for (let prompt = 0; prompt < routed.exit.length; prompt += 1) {
    if (isVisited(routed, prompt, stage)) {
      prompts[count] = prompt;
      count += 1;
    }
  }
  return prompts.subarray(0, count);
}

/** Whether a prompt visits a stage. */
export const isVisited = ({ start, exit, visits }: Pick<Routed, "start" | "exit" | "visits">, prompt: number, stage: number): boolean =>
  visits === undefined ? (start[prompt] ?? 0) <= stage && (exit[prompt] ?? 0) >= stage : (((visits[prompt] ?? 0) >> stage) & 1) === 1;

/**
 * Thresholds of proportional routing, the source's start (section 3.3): stage i (counting from 1) receives about 1/i of the
 * requests. The nearest that integer thresholds on this sample allow.
 */
export function proportionalThresholds(sample: PlanningSample, stages: readonly number[]): number[] {
  const thresholds: number[] = [];
  let waiting = Float64Array.from({ length: sample.prompts }, (_, prompt) => prompt);
  for (let stage = 0; stage + 1 < stages.length; stage += 1) {
    const judged = sample.judged[stages[stage] ?? 0] ?? new Float64Array();
    const scores = waiting.map((prompt) => judged[prompt] ?? 0).sort();
    // Answers below the threshold are escalated: as many as the next stage's share of all prompts.
    const wanted = Math.min(scores.length - 1, Math.round(sample.prompts / (stage + 2)));
    const threshold = Math.min(100, Math.max(0, Math.floor(scores[wanted] ?? 0)));
    thresholds.push(threshold);
    waiting = waiting.filter((prompt) => (judged[prompt] ?? 0) < threshold);
  }
  return thresholds;
}
