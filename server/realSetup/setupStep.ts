import type { Outcome } from "@/server/contracts/studio";
import type { RealSetupRecord } from "@/server/store/documents/realSetupRecord";

/** What a step is given while it works. */
export interface StepContext {
  readonly signal: AbortSignal;
  /** Who started the set-up. */
  readonly actor: string;
  record(): RealSetupRecord;
  /** Keeps what the step has made, before anything is built on it. */
  keep(
    made: Partial<Pick<RealSetupRecord, "clusterId" | "promptSetId" | "profileId" | "workloadId" | "speedId" | "replaced" | "suggested">>,
  ): void;
  /** Shows how far it is. @param progress 0..1; null: not known. */
  say(text: string, progress?: number | null): void;
}

/**
 * One step. It finds what an earlier run of it made and makes only the rest, so that it may be repeated at any time.
 *
 * @returns its result, a sentence. @throws SetupFailure; the signal's reason.
 */
export type SetupStep = (context: StepContext) => Promise<string>;

/** An obstacle that a person can remove: the message says how. */
export class SetupFailure extends Error {}

/** Why the signal fires when a person stops the set-up; the end of the studio has another reason. */
export class StoppedByPerson extends Error {}

/** @throws SetupFailure with the refusal's sentence. */
export function unwrap<Done extends object>(outcome: Outcome<Done>, before = ""): { readonly ok: true } & Done {
  if (!outcome.ok) throw new SetupFailure(`${before}${outcome.message}`);
  return outcome;
}
