import { chatEndpoint } from "@/server/gateway/http/chatEndpoint";
import type { AnswerEvidence } from "@/solver/gates/gates";
import { conversationText } from "@/solver/judging/conversation";
import { chatAnswer } from "@/solver/judging/judgeCall";
import { mixSeed } from "@/solver/numeric/random";
import { type ArithmeticQuestion, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { type Answering, answerIn, chatFields, inParallel, judgedScore, post } from "../questions";
import type { GateCases } from "./cases";

/** Of the questions that gates learn from; those that are served have other seeds. */
const QUESTIONS_SEED = 21;

/** What both models answered to the same questions, and all that a gate may read; arrays by question. */
export interface AskedAnswers {
  readonly questions: readonly ArithmeticQuestion[];
  /** Of the smaller model's answer, with log probabilities, samples and the judge's score. */
  readonly evidence: readonly AnswerEvidence[];
  /** 0 or 100: whether the smaller model's answer is right, and the larger one's. */
  readonly label: Float64Array;
  readonly nextLabel: Float64Array;
}

interface Asked {
  readonly small: Answering;
  readonly large: Answering;
  readonly judge: Answering;
  readonly count: number;
  readonly samples: GateCases["samples"];
}

/**
 * Asks both models, draws samples of the smaller one and has the judge score its answers.
 *
 * @throws when an engine or the judge gives no answer, or an engine no log probabilities.
 */
export async function askedAnswers({ small, large, judge, count, samples }: Asked): Promise<AskedAnswers> {
  const questions = arithmeticQuestions(count, QUESTIONS_SEED);
  const evidence = await inParallel(questions, async (question, index): Promise<AnswerEvidence> => {
    const own = await answered(small, { ...chatFields(small.model, question), logprobs: true });
    const others: string[] = [];
    for (let sample = 0; sample < samples.count; sample += 1) {
      const seed = mixSeed("sample", index, sample) % 2 ** 31;
      const body = { ...chatFields(small.model, question), temperature: samples.temperature, seed };
      others.push(answerIn(await post(`${small.url}/v1/chat/completions`, JSON.stringify(body))));
    }
    // The prompt as the gateway's gates see it.
    const prompt = conversationText(chatFields(small.model, question).messages);
    return { ...own, prompt, others, judgedScore: await judgedScore(judge, question.text, own.answer) };
  });
  const next = await inParallel(questions, (question) => answered(large, chatFields(large.model, question)));
  const labelOf = (answers: readonly Pick<AnswerEvidence, "answer">[]): Float64Array =>
    Float64Array.from(answers, ({ answer }, index) => (answer.trim() === questions[index]?.answer ? 100 : 0));
  return { questions, evidence, label: labelOf(evidence), nextLabel: labelOf(next) };
}

type Own = Omit<AnswerEvidence, "prompt" | "others" | "judgedScore">;

async function answered({ url }: Answering, body: object & { readonly logprobs?: true }): Promise<Own> {
  const completion = JSON.parse(await post(`${url}/v1/chat/completions`, JSON.stringify(body))) as {
    readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
    readonly choices: readonly { readonly finish_reason: string | null }[];
  };
  // Read as the gateway reads them.
  const tokens = chatEndpoint.text?.tokens(completion) ?? null;
  if (body.logprobs === true && tokens === null) throw new Error(`${url} reports no log probabilities`);
  return {
    answer: chatAnswer(completion) ?? "",
    inputTokens: completion.usage.prompt_tokens,
    outputTokens: completion.usage.completion_tokens,
    endedByLength: completion.choices[0]?.finish_reason === "length",
    tokens,
  };
}
