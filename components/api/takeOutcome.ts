import type { Outcome } from "@/server/contracts/studio";

/** A refusal of the studio, as the error its sentence is shown from. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** The done half of an outcome; a refusal becomes an error, so that a panel's error state shows its sentence. */
export function takeOutcome<Done extends object>(outcome: Outcome<Done>): { readonly ok: true } & Done {
  if (outcome.ok) return outcome;
  throw new RefusedError(outcome.message);
}
