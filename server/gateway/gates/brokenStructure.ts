import { isRecord } from "@/solver/collections/isRecord";
import { isJson } from "@/solver/gates/gates";

type Json = Readonly<Record<string, unknown>>;

/** Values of `response_format.type` by which a client asks for JSON. */
const jsonFormats: readonly unknown[] = ["json_object", "json_schema"];

/**
 * Whether an answer has a structure that it must have and does not: text that is no JSON where the request asks for JSON, or a tool call
 * whose arguments are no JSON. Engines write the arguments of a function that takes none as `{}`, as an empty text or not at all; an empty
 * text is broken where the request declares arguments that the function requires.
 *
 * @param body the client's request.
 * @param completion the engine's whole answer, of which the first choice is read.
 */
export function hasBrokenStructure(body: Json, completion: unknown): boolean {
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  if (!isRecord(choice)) return false;
  const message = isRecord(choice.message) ? choice.message : {};
  const functions = functionsOf(message);
  if (functions.some((called) => !isWhole(called, body))) return true;
  if (functions.length > 0 || hasFreeCall(message) || !asksForJson(body)) return false;
  const text = choice.text ?? message.content;
  // A refusal, which has a field of its own, has no JSON by agreement.
  if (text === null || text === undefined) return typeof message.refusal !== "string";
  return typeof text === "string" && !isJson(text);
}

/** By the field that all engines take, or by vLLM's own. */
function asksForJson({ response_format: format, guided_json: guided, structured_outputs: outputs }: Json): boolean {
  if (isRecord(format) && jsonFormats.includes(format.type)) return true;
  if (guided !== undefined && guided !== null) return true;
  return isRecord(outputs) && ((outputs.json ?? null) !== null || outputs.json_object === true);
}

/** The functions that a message calls, by `tool_calls` or by the older `function_call`. */
function functionsOf({ tool_calls: calls, function_call: older }: Json): readonly unknown[] {
  const called = Array.isArray(calls) ? calls.filter((call) => !isFree(call)) : [];
  return [...called.map((call) => (isRecord(call) ? call.function : null)), ...(older ? [older] : [])];
}

/** Whether a message calls a tool that takes any text. */
const hasFreeCall = ({ tool_calls: calls }: Json): boolean => Array.isArray(calls) && calls.some(isFree);

const isFree = (call: unknown): boolean => isRecord(call) && call.type === "custom";

/** Whether a call names a function, with arguments that a client can read. */
function isWhole(called: unknown, body: Json): boolean {
  if (!isRecord(called)) return false;
  const { name, arguments: given = "" } = called;
  if (given === null || (typeof given === "string" && given.trim() === "")) return !requiresArguments(body, name);
  // Some engines write the object itself.
  return typeof given === "string" ? isJson(given) : isRecord(given);
}

/** Whether the request declares a function of this name with arguments that must be there. */
function requiresArguments({ tools, functions }: Json, name: unknown): boolean {
  const declared = [
    ...(Array.isArray(tools) ? tools.map((tool) => (isRecord(tool) ? tool.function : null)) : []),
    ...(Array.isArray(functions) ? functions : []),
  ];
  return declared.some((each) => {
    const parameters = isRecord(each) && each.name === name ? each.parameters : undefined;
    return isRecord(parameters) && Array.isArray(parameters.required) && parameters.required.length > 0;
  });
}
