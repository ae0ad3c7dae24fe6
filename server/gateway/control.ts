import type { z } from "zod";
import type { Signature } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import type { AuditLog } from "./auditLog";
import type { ControlsStore } from "./controlsStore";
import type { Serving } from "./serving";

/** One thing an operator may do to live traffic beside the configuration. */
export interface Control<Request, Document> {
  readonly schema: z.ZodType<Request>;
  /** Loads what it needs; asked before its turn, so that no other change waits for it. */
  prepare?(request: Request): Promise<void>;
  /** Begins or replaces it, kept and audited. @returns why it cannot; null where it does. */
  begin(request: Request): Promise<ApiError | null>;
  /** Null where there is none. */
  read(): Document | null;
  /** Ends it, kept and audited. @returns why it cannot; null where it did. */
  end(signature: Signature): Promise<ApiError | null>;
}

/** What controls act on. */
export interface ControlGround {
  readonly serving: Serving;
  readonly store: ControlsStore;
  readonly audit: AuditLog;
}

/** The error for what cannot be as things stand. */
export function conflict(message: string): ApiError {
  return { status: 409, message, type: "invalid_request_error", code: "conflict" };
}

/** The error for the end of what is not there. */
export function nothingToEnd(message: string): ApiError {
  return { status: 404, message, type: "not_found_error", code: "nothing_to_end" };
}

/** The error for a document that makes no sense. */
export function senseless(message: string): ApiError {
  return { status: 400, message, type: "invalid_request_error", code: "invalid_value" };
}

/** A sentence with the reason an operator gave behind it. */
export function withReason(sentence: string, reason: string): string {
  return reason === "" ? `${sentence}.` : `${sentence}: ${reason}`;
}
