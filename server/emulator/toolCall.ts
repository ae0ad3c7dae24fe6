import { randomUUID } from "node:crypto";
import { isRecord } from "@/solver/collections/isRecord";
import { evenPiece } from "./emulatedTokens";
import type { Generation } from "./generation";
import { namedPrompt } from "./outcomeTable";
import { UnmetSchema } from "./schema/patternText";
import { schemaValue } from "./schema/schemaValue";

/** A call of a function, with which a chat must be answered. */
export interface ToolCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  /** Why an answer ends that is the whole call: in vLLM the call of a function that the request names ends as a text does. */
  readonly reason: "stop" | "tool_calls";
}

/**
 * The call with which a chat must be answered: of the function that `tool_choice` names, or of the first tool where it is "required".
 * @param tools the request's tools.
 * @param choice the request's `tool_choice`.
 * @returns null: a text may answer.
 * @throws UnmetSchema if no arguments are written for the function's parameters.
 */
export function forcedCall(tools: unknown, choice: unknown): ToolCall | null {
  if (choice !== "required" && !isRecord(choice)) return null;
  const name = isRecord(choice) && isRecord(choice.function) ? choice.function.name : null;
  const called = functionsOf(tools).find((one) => name === null || one.name === name);
  return called === undefined ? null : callOf(called, name === null ? "tool_calls" : "stop");
}

/** Words of a function's name that say what it is about have at least so many letters. */
const LEAST_LETTERS = 4;

/**
 * The call that a model makes where it may call or answer: of the first tool of whose name the question contains a word, such as "weather"
 * for `get_weather`. A question of the outcomes is always answered with their text, and so is a chat whose last message is not a question.
 * @param question text of the last message, if it is the user's; null if it is not.
 */
export function chosenCall(tools: unknown, choice: unknown, question: string | null): ToolCall | null {
  const mayCall = choice === "auto" || choice === undefined || choice === null;
  if (!mayCall || question === null || namedPrompt(question) !== null) return null;
  const asked = new Set(wordsOf(question));
  const called = functionsOf(tools).find(({ name }) => wordsOf(name).some((word) => word.length >= LEAST_LETTERS && asked.has(word)));
  if (called === undefined) return null;
  try {
    return callOf(called, "tool_calls");
  } catch (error) {
    if (error instanceof UnmetSchema) return null;
    throw error;
  }
}

/** The words of a text or a name, in small letters: `getWeather_now` has three. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .match(/\p{L}+/gu) ?? [];

interface CalledFunction {
  readonly name: string;
  readonly parameters?: unknown;
}

const functionsOf = (tools: unknown): readonly CalledFunction[] =>
  (Array.isArray(tools) ? tools : []).flatMap((tool) => {
    const { name, parameters } = isRecord(tool) && isRecord(tool.function) ? tool.function : {};
    return typeof name === "string" ? [{ name, parameters }] : [];
  });

const callOf = ({ name, parameters }: CalledFunction, reason: ToolCall["reason"]): ToolCall => ({
  name,
  arguments: JSON.stringify(isRecord(parameters) ? schemaValue({ type: "object", ...parameters }) : {}),
  reason,
});

/**
 * A generation that writes a call in place of an answer: its first token is the name, and the others share the arguments evenly.
 * @returns as long as the answer, but at least two tokens.
 */
export function callGeneration(generation: Generation, call: ToolCall): Generation {
  const outputTokens = Math.max(2, generation.outputTokens);
  return {
    ...generation,
    outputTokens,
    token: (index) => (index === 0 ? call.name : evenPiece(call.arguments, index - 1, outputTokens - 1)),
  };
}

/**
 * The calls of a whole answer.
 * @param text name and arguments, as far as they were written.
 */
export const writtenCalls = ({ name }: ToolCall, text: string) => [
  { id: callId(), type: "function", function: { name, arguments: text.slice(name.length) } },
];

/**
 * A piece of a call in a stream.
 * @param text the name of the function where the call begins, else part of the arguments.
 */
export const callDelta = (text: string, begins: boolean) => ({
  content: null,
  tool_calls: [
    begins ? { id: callId(), type: "function", index: 0, function: { name: text } } : { index: 0, function: { arguments: text } },
  ],
});

const callId = (): string => `chatcmpl-tool-${randomUUID().replaceAll("-", "").slice(16)}`;
