import { TRPCClientError } from "@trpc/client";
import type { FieldFault, Outcome, Refusal } from "@/server/contracts/studio";

/** A refusal by the studio as an error whose message is shown. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly field: FieldFault | null;

  constructor({ message, field = null }: Pick<Refusal, "message"> & { readonly field?: FieldFault | null | undefined }) {
    super(message);
    this.field = field;
  }
}

/** The done half of an outcome; a refusal becomes an error, so that a panel's error state shows its sentence. */
export function unwrapOutcome<Done extends object>(outcome: Outcome<Done>): { readonly ok: true } & Done {
  if (outcome.ok) return outcome;
  throw new RefusedError(outcome);
}

/** The field of the request that an error is about; null: none, or the studio did not say. */
export function fieldOf(error: Error): FieldFault | null {
  if (error instanceof RefusedError) return error.field;
  return error instanceof TRPCClientError ? ((error.data as { readonly field?: FieldFault } | null)?.field ?? null) : null;
}
