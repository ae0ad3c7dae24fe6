import type { ApiError } from "./apiError";

/** Why the gateway ends a request before its answer is whole: the `reason` of the request's abort signal. */
export type EndReason = "client went away" | "deadline" | "shutting down";

/** Status of a request whose client went away; never sent, only recorded (nginx's number for it). */
const clientGone = 499;

const errors: Readonly<Record<EndReason, ApiError>> = {
  "client went away": { status: clientGone, message: "The client went away.", type: "server_error", code: "client_gone" },
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
  return reason === "deadline" || reason === "shutting down" ? errors[reason] : errors["client went away"];
}
