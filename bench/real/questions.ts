import { chatAnswer, completionScore, judgeCallBody } from "@/solver/judging/judgeCall";
import { judgePrompt } from "@/solver/judging/judgePrompt";
import { fitJudgeTimes, type JudgeTimes, type TimedCall } from "@/solver/judging/judgeTime";
import { type ArithmeticQuestion, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { RecordedAnswers } from "./records";

/** Of the questions to plan with; those to measure with have other seeds. */
const PLANNING_SEED = 1;

/** The longest answer, with its end. */
const ANSWER_TOKENS = 16;

/** An engine's address by the model that it serves. */
export interface Answering {
  readonly model: string;
  readonly url: string;
}

/** The fields of a question as an application asks it; not streamed. */
export const chatFields = (model: string, { text }: ArithmeticQuestion) => {
  return { model, messages: [{ role: "user", content: text }], max_tokens: ANSWER_TOKENS, temperature: 0 };
};

/** A question as an application asks it. */
export const chatBody = (model: string, question: ArithmeticQuestion): string => JSON.stringify(chatFields(model, question));

/** The text of a chat completion; empty where it is none. */
export function answerIn(json: string): string {
  try {
    return (chatAnswer(JSON.parse(json)) ?? "").trim();
  } catch {
    return "";
  }
}

/** Answers and scores of the planning questions, and the time of a call of the judge. */
export interface Profiled {
  readonly inputTokens: readonly number[];
  readonly models: readonly RecordedAnswers[];
  readonly judge: JudgeTimes;
}

/** The table of outcomes that a plan is made with. */
export function outcomesOf({ inputTokens, models }: Pick<Profiled, "inputTokens" | "models">): OutcomeTable {
  const questions = arithmeticQuestions(inputTokens.length, PLANNING_SEED);
  return {
    promptIds: questions.map((_, index) => `q-${index + 1}`),
    categories: questions.map(({ kind }) => kind),
    inputTokens: Int32Array.from(inputTokens),
    models: models.map(({ model, outputTokens, label, judged }) => ({
      ...{ model, tableName: model, outputTokens: Int32Array.from(outputTokens) },
      ...{ label: Float64Array.from(label), judged: Float64Array.from(judged) },
    })),
  };
}

/**
 * What a profile of the studio measures: every planning question answered by every model, and the answers scored by the judge. The judge is
 * timed one call at a time.
 *
 * @throws when an engine or the judge gives no answer.
 */
export async function profiled(engines: readonly Answering[], judging: Answering, count: number): Promise<Profiled> {
  const questions = arithmeticQuestions(count, PLANNING_SEED);
  const inputTokens = questions.map(() => 0);
  const calls: TimedCall[] = [];
  const models: RecordedAnswers[] = [];
  for (const { model, url } of engines) {
    const outputTokens = questions.map(() => 0);
    const answers = await inParallel(questions, async (question, index) => {
      const json = await post(`${url}/v1/chat/completions`, chatBody(model, question));
      const { usage } = JSON.parse(json) as { readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } };
      inputTokens[index] = usage.prompt_tokens;
      outputTokens[index] = usage.completion_tokens;
      return chatAnswer(JSON.parse(json)) ?? "";
    });
    const judged = await inParallel(answers, (answer, index) => judgedScore(judging, questions[index]?.text ?? "", answer));
    for (const [index, answer] of answers.slice(0, TIMED_CALLS).entries()) {
      const beganMs = performance.now();
      await judgedScore(judging, questions[index]?.text ?? "", answer);
      const tokens = (inputTokens[index] ?? 0) + (outputTokens[index] ?? 0);
      calls.push({ tokens, seconds: (performance.now() - beganMs) / 1000 });
    }
    const label = answers.map((answer, index) => (answer.trim() === questions[index]?.answer ? 100 : 0));
    models.push({ model, outputTokens, label, judged });
  }
  const judge = fitJudgeTimes(calls);
  if (judge === null) throw new Error("The judge's calls took no time.");
  return { inputTokens, models, judge };
}

/** The judge's score of an answer, 0..100. @throws when it gives none. */
export async function judgedScore(judging: Answering, question: string, answer: string): Promise<number> {
  const body = JSON.stringify(judgeCallBody(judging.model, judgePrompt(question, answer)));
  const read = completionScore(await post(`${judging.url}/v1/chat/completions`, body));
  if (read === null) throw new Error("The judge gave no score.");
  return read;
}

const IN_PARALLEL = 8;
const TIMED_CALLS = 80;

/** The results in the order of the items, some of them in the making at once. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  of: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await of(item, index);
  };
  await Promise.all(Array.from({ length: IN_PARALLEL }, work));
  return results;
}

/** The body of an answer with the status 200. @throws with the start of any other. */
export async function post(url: string, body: string): Promise<string> {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 300)}`);
  return text;
}
