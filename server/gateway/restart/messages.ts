import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { LearningLine } from "@/server/contracts/gateway/gatewayLearning";
import type { AuditNote } from "../lib/auditLog";

/** What a process counts or notes after its successor has taken over its state: the successor does it instead. */
export type LateEffect =
  | { readonly kind: "decision"; readonly served: string; readonly decision: Omit<Decision, "sequence"> }
  | { readonly kind: "shed"; readonly served: string; readonly decision: Omit<Decision, "sequence"> }
  | { readonly kind: "refused"; readonly served: string | null; readonly status: number; readonly key: string | null }
  | { readonly kind: "note"; readonly note: AuditNote }
  | { readonly kind: "learning"; readonly line: LearningLine }
  /** By how much a hosted model's account has used more, or less, than the successor knows of. */
  | { readonly kind: "hosted-use"; readonly account: string; readonly change: { readonly tokens: number; readonly nanoUsd: number } }
  /** By how much a key has used more, or less, than the successor knows of. */
  | { readonly kind: "use"; readonly sha256: string; readonly change: { readonly tokens: number; readonly nanoUsd: number } };

/** State of a process that no file has. */
export interface Inherited {
  /** Requests that are left of the rates of keys, by the SHA-256 of these. */
  readonly rates: readonly (readonly [sha256: string, rest: number])[];
}

/**
 * From the parent to a gateway's process: start, with what the one before left, or null; hand the state over; stop listening and end with the
 * last connection; count what the one before did late.
 */
export type ToProcess =
  | { readonly kind: "begin"; readonly inherited: Inherited | null }
  | { readonly kind: "hand-over" }
  | { readonly kind: "leave" }
  | { readonly kind: "late"; readonly effect: LateEffect };

/** From a gateway's process to its parent: its options are right; it serves; its state is in its files; it did something late. */
export type ToParent =
  | { readonly kind: "ready" }
  | { readonly kind: "up" }
  | { readonly kind: "handed-over"; readonly inherited: Inherited }
  | { readonly kind: "late"; readonly effect: LateEffect };
