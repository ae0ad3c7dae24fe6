import type { IncomingMessage } from "node:http";
import type { ApiError } from "./apiError";

/** The path of a request, without its query. */
export function pathOf({ url }: IncomingMessage): string {
  return (url ?? "/").split("?", 1)[0] ?? "/";
}

/** The part of the path after the last slash. */
export function pathEnd(request: IncomingMessage): string {
  const path = pathOf(request);
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The sequence number in `?after=` of a request for a page, 0 if it is absent; the error if it is not a number. */
export function sequenceOf({ url }: IncomingMessage): number | ApiError {
  const given = new URL(url ?? "/", "http://localhost").searchParams.get("after") ?? "0";
  const after = Number(given);
  if (Number.isInteger(after) && after >= 0) return after;
  const message = `after=${given.slice(0, 40)} is no sequence number; start with after=0.`;
  return { status: 400, message, type: "invalid_request_error", param: "after", code: "invalid_value" };
}
