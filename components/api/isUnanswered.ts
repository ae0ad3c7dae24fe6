import { TRPCClientError } from "@trpc/client";

/**
 * Whether a call failed because the studio did not answer, rather than with an answer that gives a reason: nothing listens, the
 * connection broke, or a proxy answered instead. An error of the studio itself carries data.
 */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TRPCClientError && (error.data ?? null) === null;
}
