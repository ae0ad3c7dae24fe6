import { isRecord } from "@/solver/collections/isRecord";
import type { ApiError } from "../http/apiError";

/** Characters of a body that has no message of its own. */
const shownCharacters = 300;

/**
 * An engine's error document as `{"error":{"message","type","param","code"}}`, the only form that official clients read; they report any
 * other as an error without a body. It is returned unchanged if it has that form. Otherwise its fields are kept inside `error`: vLLM before
 * 0.10.1 sends `{"object":"error","message"}`, FastAPI `{"detail"}`, Ollama and TGI `{"error":"text"}`.
 * @param type of an error that names none.
 */
export function wrappedError(document: unknown, type: ApiError["type"]): { readonly error: Readonly<Record<string, unknown>> } {
  if (isRecord(document) && isRecord(document.error)) return { ...document, error: document.error };
  const { error, ...fields } = isRecord(document) ? document : { error: document };
  const message = [fields.message, error, fields.detail].find((text) => typeof text === "string" && text !== "");
  const shown = message ?? JSON.stringify(document).slice(0, shownCharacters);
  return {
    error: { type, param: null, code: null, ...(error !== undefined && error !== message && { error }), ...fields, message: shown },
  };
}

/** Whether a document is an error and not an answer: an event of a stream has no status that says so. */
export function isErrorDocument(document: Readonly<Record<string, unknown>>): boolean {
  return (document.error !== undefined && document.error !== null) || (document.object === "error" && typeof document.message === "string");
}
