import { isRecord } from "@/solver/collections/isRecord";
import { lastUserText } from "@/solver/prediction/lastUserText";
import { bytesPerToken, type ModelRequest } from "../http/modelRequest";
import type { PredictorQuery, Question } from "./prediction";

/** Length limit of a text for the thread: more than the words that are read of it. */
const mostCharacters = 65_536;

/** The question to predictors about a request. Tokens are estimated at four characters each. */
export function questionOf(
  { body, endpoint, workflow, stage }: ModelRequest,
  wanted: readonly PredictorQuery[],
  searchMs: number,
): Question {
  const tokens = (characters: number): number => Math.ceil(characters / bytesPerToken);
  const { messages } = body;
  if (!Array.isArray(messages)) {
    const text = endpoint.text?.prompt(body) ?? "";
    const promptTokens = tokens(text.length);
    return {
      text: text.slice(0, mostCharacters),
      facts: { instructionTokens: 0, promptTokens, inputTokens: promptTokens, workflow, stage },
      ...{ wanted, searchMs },
    };
  }
  const text = lastUserText(messages);
  const instructions = messages.filter((message) => isRecord(message) && (message.role === "system" || message.role === "developer"));
  const facts = {
    instructionTokens: tokens(lengthOf(instructions)),
    promptTokens: tokens(text.length),
    inputTokens: tokens(lengthOf(messages)),
    workflow,
    stage,
  };
  return { text: text.slice(0, mostCharacters), facts, wanted, searchMs };
}

/** Characters in the text of messages. */
function lengthOf(messages: readonly unknown[]): number {
  let sum = 0;
  for (const message of messages) {
    const content = isRecord(message) ? message.content : undefined;
    if (typeof content === "string") sum += content.length;
    else if (Array.isArray(content))
      for (const part of content) sum += isRecord(part) && typeof part.text === "string" ? part.text.length : 0;
  }
  return sum;
}
