import type { Answerer, Measure, ProfileEstimate, ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { answererKey } from "./answererPool";
import type { MeasureReadings } from "./measures/reading";
import { judgeOf, profileShape } from "./profileShape";

const CHARACTERS_PER_TOKEN = 4;
/** Assumed without a measurement. */
const ASSUMED_OUTPUT_TOKENS = 300;
const ASSUMED_TOKENS_PER_SECOND = 40;
/** A judge's reply, and the text around its inputs. */
const JUDGE_OUTPUT_TOKENS = 8;
const TEMPLATE_TOKENS = 150;
/** A judge reads, and says a number. */
const ASSUMED_JUDGE_SECONDS = 0.5;

/** What earlier jobs and workloads tell of a model's answers. */
export interface SeenAnswers {
  readonly outputTokens: number;
  /** Engine seconds of an answer; null: not known. */
  readonly seconds: number | null;
  /** Where from, as in "12 answers of earlier profiles". */
  readonly from: string;
}

export interface EstimateParts {
  readonly request: ProfileRequest;
  readonly set: PromptSet;
  readonly measures: Pick<MeasureReadings, "readingCount">;
  readonly seenOf: (model: string) => SeenAnswers | null;
  /** Engine seconds per wall second of an answerer. */
  readonly timeScaleOf: (answerer: Answerer) => number;
}

interface Lane {
  readonly answerer: Answerer;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Wall seconds, one call after the other. */
  seconds: number;
}

/** What a job will take. A bound is the cap, never this. */
export function estimateProfile({ request, set, measures: how, seenOf, timeScaleOf }: EstimateParts): Omit<ProfileEstimate, "problems"> {
  const { models, measures, concurrency, requestsPerMinute, maxOutputTokens, gates } = request;
  const { prompts } = set;
  const shape = profileShape(request, prompts, how);
  const basis: string[] = [`Input tokens: ${CHARACTERS_PER_TOKEN} characters each are assumed.`];
  const lanes = new Map<string, Lane>();
  const promptTokens = set.meanCharacters / CHARACTERS_PER_TOKEN;
  const add = (answerer: Answerer, calls: number, each: { readonly input: number; readonly output: number; readonly seconds: number }) => {
    const lane = lanes.get(answererKey(answerer)) ?? { answerer, calls: 0, inputTokens: 0, outputTokens: 0, seconds: 0 };
    lane.calls += calls;
    lane.inputTokens += calls * each.input;
    lane.outputTokens += calls * each.output;
    lane.seconds += (calls * each.seconds) / timeScaleOf(answerer);
    lanes.set(answererKey(answerer), lane);
  };
  const { count: samples } = gates.samples ?? { count: 0 };
  const outputs = models.map((answerer) => {
    const seen = seenOf(answerer.model);
    const output = Math.min(maxOutputTokens, seen?.outputTokens ?? ASSUMED_OUTPUT_TOKENS);
    add(answerer, prompts * (1 + samples), { input: promptTokens, output, seconds: seen?.seconds ?? output / ASSUMED_TOKENS_PER_SECOND });
    basis.push(basisOf(answerer.model, Math.round(output), seen));
    return output;
  });
  if (samples > 0)
    basis.push(`Samples: ${samples} further ${samples === 1 ? "answer" : "answers"} of each model to each prompt, as long as the first.`);
  const answer = outputs.reduce((sum, output) => sum + output, 0) / Math.max(1, outputs.length);
  for (const [at, measure] of measures.entries()) {
    const judge = judgeOf(measure);
    if (judge === null) continue;
    const calls = judgeCalls(measure, { set, models: models.length, readings: shape.measures[at]?.readings ?? 1 });
    const shown = measure.kind === "pairwise" || measure.kind === "reference" ? 2 * answer : answer;
    add(judge, calls, { input: promptTokens + shown + TEMPLATE_TOKENS, output: JUDGE_OUTPUT_TOKENS, seconds: ASSUMED_JUDGE_SECONDS });
    basis.push(
      `${measure.name}: ${JUDGE_OUTPUT_TOKENS} output tokens and ${ASSUMED_JUDGE_SECONDS} s a call are assumed; a judge that thinks takes more.`,
    );
  }
  const all = [...lanes.values()];
  const sum = (of: (lane: Lane) => number): number => all.reduce((total, lane) => total + of(lane), 0);
  const calls = sum((lane) => lane.calls);
  const busiest = Math.max(0, ...all.map((lane) => lane.seconds / concurrency));
  const paced = requestsPerMinute === null ? 0 : (60 * calls) / requestsPerMinute;
  if (paced > busiest) basis.push(`The limit of ${requestsPerMinute} requests per minute decides over the time.`);
  if (all.some(({ answerer }) => timeScaleOf(answerer) !== 1)) basis.push("Emulated engines are as much faster as their time scale.");
  return {
    calls,
    inputTokens: Math.round(sum((lane) => lane.inputTokens)),
    outputTokens: Math.round(sum((lane) => lane.outputTokens)),
    usd: sum(({ answerer, inputTokens, outputTokens }) => {
      return (inputTokens * answerer.usdPerMillionInputTokens + outputTokens * answerer.usdPerMillionOutputTokens) / 1e6;
    }),
    seconds: Math.max(busiest, paced),
    basis,
  };
}

/** Prompts without a reference answer are not sent to a judge that needs it, and an answer is not compared with itself. */
function judgeCalls(
  { kind }: Measure,
  { set, models, readings }: { readonly set: PromptSet; readonly models: number; readonly readings: number },
): number {
  const prompts = kind === "reference" ? set.withReference : set.prompts;
  return prompts * readings * (kind === "pairwise" ? models - 1 : models);
}

function basisOf(model: string, output: number, seen: SeenAnswers | null): string {
  if (seen === null)
    return `${model}: ${output} output tokens and ${ASSUMED_TOKENS_PER_SECOND} tokens a second are assumed; nothing was measured yet.`;
  const time =
    seen.seconds === null
      ? `; ${ASSUMED_TOKENS_PER_SECOND} tokens a second are assumed`
      : ` and ${seen.seconds.toPrecision(2)} s an answer`;
  return `${model}: ${output} output tokens${time}, from ${seen.from}.`;
}
