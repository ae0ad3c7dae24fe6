import { isRecord } from "@/solver/collections/isRecord";
import { isJson } from "@/solver/gates/jsonAnswer";

type Json = Readonly<Record<string, unknown>>;

/** Values of `response_format.type` by which a client asks for JSON. */
const jsonFormats: readonly unknown[] = ["json_object", "json_schema"];

/**
 * Whether an answer has a structure that it must have and does not: text that is no JSON where `response_format` asks for JSON, or a tool
 * call whose arguments are no JSON.
 */
export function hasBrokenStructure({ response_format: format }: Json, completion: unknown): boolean {
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  if (!isRecord(choice)) return false;
  const message = isRecord(choice.message) ? choice.message : {};
  const functions = functionsOf(message);
  if (functions.some((called) => !isRecord(called) || typeof called.arguments !== "string" || !isJson(called.arguments))) return true;
  if (functions.length > 0 || !isRecord(format) || !jsonFormats.includes(format.type)) return false;
  const text = choice.text ?? message.content;
  return typeof text === "string" && !isJson(text);
}

/** The functions that a message calls, by `tool_calls` or by the older `function_call`. */
function functionsOf({ tool_calls: calls, function_call: older }: Json): readonly unknown[] {
  const called = Array.isArray(calls) ? calls.filter((call) => !isRecord(call) || call.type !== "custom") : [];
  return [...called.map((call) => (isRecord(call) ? call.function : null)), ...(older ? [older] : [])];
}
