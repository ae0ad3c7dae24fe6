import type { ApiError } from "./apiError";

/** Why the gateway ends a request before its answer is whole: the `reason` of the request's abort signal. */
export type EndReason = "client went away" | "slow body" | "deadline" | "shutting down";

/** Status of a request whose client went away; never sent, only recorded (nginx's number for it). */
export const clientGone = 499;

const errors: Readonly<Record<EndReason, ApiError>> = {
  "client went away": {
    status: clientGone,
    message: "The client went away, or read nothing for too long.",
    type: "server_error",
    code: "client_gone",
  },
  "slow body": {
    status: 408,
    message: "The body took longer to arrive than the gateway allows.",
    type: "timeout_error",
    code: "slow_body",
  },
  deadline: { status: 504, message: "The request took longer than the gateway allows.", type: "timeout_error", code: "deadline" },
  "shutting down": {
    status: 503,
    message: "The gateway was shut down before the answer was complete.",
    type: "server_error",
    code: "shutting_down",
  },
};

/** What a client is told whose request was ended, and what is recorded of it. */
export function endedError(signal: AbortSignal): ApiError {
  const reason: unknown = signal.reason;
  return typeof reason === "string" && reason in errors ? errors[reason as EndReason] : errors["client went away"];
}
