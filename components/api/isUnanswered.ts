import { TRPCClientError } from "@trpc/client";

/**
 * Whether a call failed because the studio did not answer, rather than with an answer that says why: nobody listens, the
 * connection broke, or something on the way answered in its place. An error of the studio's own carries data.
 */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TRPCClientError && (error.data ?? null) === null;
}
