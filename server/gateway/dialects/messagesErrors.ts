import type { ChatError } from "./chatError";
import type { AnswerContext } from "./dialect";

/** The types of Anthropic's errors by status. */
const byStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The types that both APIs have. */
const common: ReadonlySet<string> = new Set([
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "rate_limit_error",
  "timeout_error",
]);

/** An error as Anthropic's clients read it; the gateway's code is in `details.error_code`. */
export function messagesErrorJson(
  { status, message, type, code, param }: ChatError,
  { requestId }: Pick<AnswerContext, "requestId">,
): string {
  const details = code === null && param === null ? {} : { details: { error_code: code, param } };
  return JSON.stringify({ type: "error", error: { type: typeOf(status, type), message, ...details }, request_id: requestId });
}

function typeOf(status: number | null, type: string): string {
  if (status === null) return common.has(type) ? type : "api_error";
  return byStatus[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}
