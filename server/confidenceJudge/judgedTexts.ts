import { conversationTurns } from "@/solver/judging/conversation";

/** What a judge is asked about. */
export interface JudgedTexts {
  /** The text of each message of the conversation. */
  readonly conversation: readonly string[];
  readonly answer: string;
}

const QUESTION = "[question]\n";
const REFERENCE = "\n\n[reference answer]\n";
const ANSWER = "\n\n[answer]\n";

/**
 * The conversation and the answer in a rubric of `solver/judging/judgePrompt`, with a reference or without. Everything after the answer's
 * mark is the answer.
 *
 * @returns null where the text lacks these marks, such as the rubric of a comparison.
 */
export function judgedTexts(rubric: string): JudgedTexts | null {
  const question = rubric.indexOf(QUESTION);
  if (question < 0) return null;
  const start = question + QUESTION.length;
  const answer = rubric.indexOf(ANSWER, start);
  if (answer < 0) return null;
  const reference = rubric.indexOf(REFERENCE, start);
  const text = rubric.slice(start, reference < 0 || reference > answer ? answer : reference);
  const conversation = conversationTurns(text)?.map(({ content }) => content) ?? [text];
  return { conversation, answer: rubric.slice(answer + ANSWER.length) };
}
