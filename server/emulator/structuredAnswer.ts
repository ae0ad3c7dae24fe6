import type { ApiError } from "@/server/contracts/http/apiServer";
import { isRecord } from "@/solver/collections/isRecord";
import { evenPiece } from "./emulatedTokens";
import type { Generation } from "./generation";
import { type Body, plain } from "./generationFields";
import type { AnswerForm } from "./generationRequest";
import { patternText, UnmetSchema } from "./schema/patternText";
import { schemaValue } from "./schema/schemaValue";

type FormResult = { readonly ok: true; readonly form: AnswerForm | null } | { readonly ok: false; readonly error: ApiError };

/** The object of an answer that must be some JSON. */
const ANY_OBJECT = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

/**
 * The form of the answer to a request, by `response_format` or vLLM's `structured_outputs`.
 * @returns the form, null for plain text, or the refusal of one that is not written.
 */
export function answerForm(body: Body): FormResult {
  try {
    const form = formOf(body);
    // Whether it can be written does not depend on the text.
    form?.("text");
    return { ok: true, form };
  } catch (error) {
    if (error instanceof UnmetSchema) return { ok: false, error: plain(error.message) };
    throw error;
  }
}

function formOf({ response_format: format, structured_outputs: outputs }: Body): AnswerForm | null {
  if (isRecord(format) && format.type === "json_object") return jsonOf(ANY_OBJECT);
  if (isRecord(format) && format.type === "json_schema") {
    if (!isRecord(format.json_schema)) throw new UnmetSchema("`response_format` of the type json_schema needs `json_schema`.");
    return jsonOf(format.json_schema.schema ?? {});
  }
  if (isRecord(format) && format.type !== "text" && format.type !== undefined)
    throw new UnmetSchema(`Emulated engines have no \`response_format\` of the type ${String(format.type)}.`);
  if (!isRecord(outputs)) return null;
  const { json, json_object: anyJson, choice, regex } = outputs;
  if (json !== undefined && json !== null) return jsonOf(typeof json === "string" ? parsed(json) : json);
  if (anyJson === true) return jsonOf(ANY_OBJECT);
  const [first] = Array.isArray(choice) ? choice : [];
  if (typeof first === "string") return () => first;
  if (typeof regex === "string") return () => patternText(regex);
  const unread = ["grammar", "structural_tag"].find((name) => outputs[name] !== undefined && outputs[name] !== null);
  if (unread !== undefined) throw new UnmetSchema(`Emulated engines do not read \`structured_outputs.${unread}\`.`);
  return null;
}

const jsonOf =
  (schema: unknown): AnswerForm =>
  (text) =>
    JSON.stringify(schemaValue(schema, text));

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UnmetSchema("`structured_outputs.json` is not JSON.");
  }
}

/**
 * A generation that writes an answer in its form, around the first token of the plain answer, which says whose answer it is. It is as long
 * as the plain one, but no token is without text.
 */
export function formedGeneration(generation: Generation, form: AnswerForm): Generation {
  const text = form(generation.token(0).trim());
  const outputTokens = Math.max(1, Math.min(generation.outputTokens, text.length));
  return { ...generation, outputTokens, token: (index) => evenPiece(text, index, outputTokens) };
}
