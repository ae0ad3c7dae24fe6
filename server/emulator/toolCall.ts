import { randomUUID } from "node:crypto";
import { isRecord } from "@/solver/collections/isRecord";
import { evenPiece } from "./emulatedTokens";
import type { Generation } from "./generation";

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
 * @returns null: a text may answer, and an emulated model always chooses it.
 */
export function forcedCall(tools: unknown, choice: unknown): ToolCall | null {
  if (choice !== "required" && !isRecord(choice)) return null;
  const name = isRecord(choice) && isRecord(choice.function) ? choice.function.name : null;
  const functions = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isRecord(tool) && isRecord(tool.function) ? [tool.function] : [],
  );
  const called = functions.find((one) => typeof one.name === "string" && (name === null || one.name === name));
  if (called === undefined) return null;
  const values = isRecord(called.parameters) ? placeholder(called.parameters) : {};
  return { name: String(called.name), arguments: JSON.stringify(values), reason: name === null ? "tool_calls" : "stop" };
}

/**
 * A value for a JSON schema, as far as that is simple: a fixed or the first listed value, the first alternative, else a value of the type,
 * of an object the required properties. References, lengths and patterns are not read.
 */
function placeholder(schema: unknown): unknown {
  if (!isRecord(schema)) return null;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  const alternatives = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list));
  if (Array.isArray(alternatives)) return placeholder(alternatives[0]);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 0;
    case "boolean":
      return true;
    case "array":
      return typeof schema.minItems === "number" && schema.minItems > 0 ? [placeholder(schema.items)] : [];
    case "null":
      return null;
    default:
      return requiredProperties(schema);
  }
}

function requiredProperties({ properties, required }: Readonly<Record<string, unknown>>): object {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return Object.fromEntries(names.map((name) => [name, placeholder(isRecord(properties) ? properties[name] : {})]));
}

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
