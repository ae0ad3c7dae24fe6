import type { OutgoingHttpHeaders } from "node:http";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { EndSignal } from "@/server/lib/requestEnd";
import { type ApiError, drainingRetrySeconds, noRetry, retryAfter } from "./apiError";

/** Status of a request whose client disconnected; never sent, only recorded (nginx's number for it). */
export const clientGone = 499;

const errors: Readonly<Record<AbortKind, ApiError>> = {
  "client-gone": {
    status: clientGone,
    message: "The client disconnected or stopped reading.",
    type: "server_error",
    code: "client_gone",
  },
  "slow-body": {
    status: 408,
    message: "The body took longer to arrive than the gateway allows.",
    type: "timeout_error",
    code: "slow_body",
  },
  deadline: { status: 504, message: "The request took longer than the gateway allows.", type: "timeout_error", code: "deadline" },
  "shutting-down": {
    status: 503,
    message: "The gateway was shut down before the answer was complete.",
    type: "server_error",
    code: "shutting_down",
  },
};

/** Why a request was aborted: the `reason` of its signal. Any other end of a connection counts as a client that disconnected. */
export function abortKindOf({ reason }: Pick<EndSignal, "reason">): AbortKind {
  return typeof reason === "string" && reason in errors ? (reason as AbortKind) : "client-gone";
}

/** The error for the client of an aborted request, and for its record. */
export const abortError = (signal: EndSignal): ApiError => errors[abortKindOf(signal)];

/** Whether and when its client should send it again: one that took all the time it may have takes it again. */
export const abortHeaders = (signal: EndSignal): OutgoingHttpHeaders => headers[abortKindOf(signal)];

const headers: Readonly<Record<AbortKind, OutgoingHttpHeaders>> = {
  "client-gone": {},
  "slow-body": {},
  deadline: noRetry,
  "shutting-down": retryAfter(drainingRetrySeconds),
};
