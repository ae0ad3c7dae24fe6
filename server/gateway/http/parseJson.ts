import { reasonOf } from "@/server/lib/reasonOf";
import { ResidentThread } from "@/server/threads/residentThread";
import { ThreadEnded } from "@/server/threads/workerThread";
import type { ApiError } from "./apiError";

/**
 * Longer bodies are parsed in a thread. A megabyte of text that is not ASCII takes 5 ms here and 0.5 ms to bring over from the thread; a body
 * of many small values takes as long to bring over as to parse, which its limits bound to 10 ms.
 */
const longBytes = 1024 * 1024;
/** The longest bodies take some tenths of a second. */
const limitMs = 10_000;

export type ParsedJson = { readonly value: unknown } | { readonly error: ApiError };

const thread = new ResidentThread<Uint8Array, unknown>({ file: "jsonWorker", heapMb: 512, startLimitMs: 10_000, keepsProcess: false });

/** Parses a body within its `JsonLimits`; a long one outside the event loop, after those that came before. */
export function parseJson(bytes: Buffer): ParsedJson | Promise<ParsedJson> {
  if (bytes.length > longBytes) return thread.ask(bytes, { limitMs }).then((value) => ({ value }), notJson);
  try {
    return { value: JSON.parse(bytes.toString("utf8")) };
  } catch (problem) {
    return notJson(problem);
  }
}

function notJson(problem: unknown): ParsedJson {
  if (problem instanceof ThreadEnded) return { error: notParsed };
  const message = `The body is not valid JSON: ${reasonOf(problem)}.`;
  return { error: { status: 400, message, type: "invalid_request_error", code: "invalid_json" } };
}

const notParsed: ApiError = {
  status: 503,
  message: "The body could not be parsed in time; send it again.",
  type: "server_error",
  code: "not_parsed",
};
