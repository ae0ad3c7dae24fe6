import { isRecord } from "../collections/isRecord";
import { messageText } from "./conversation";
import { SCORE_TOKENS } from "./judgePrompt";
import { readScore } from "./readReply";

/** Body of the chat completion that requests a judge's score: `content` is a rubric with its texts in place. */
export const judgeCallBody = (model: string, content: string) => ({
  model,
  messages: [{ role: "user", content }],
  temperature: 0,
  max_tokens: SCORE_TOKENS,
});

/** The text of a chat completion's first choice and its tool calls; null when there is no choice. */
export function chatAnswer(completion: unknown): string | null {
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  const message = isRecord(choice) ? choice.message : undefined;
  return isRecord(message) ? messageText(message) : null;
}

/** The score in a judge's completion, as JSON text; null where it does not contain a single number from 0 to 100. */
export function completionScore(json: string): number | null {
  try {
    const reading = readScore(chatAnswer(JSON.parse(json)) ?? "");
    return "score" in reading ? reading.score : null;
  } catch {
    return null;
  }
}
