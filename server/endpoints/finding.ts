/** What was looked at. */
export type FindingWhat = "reached" | "certificate" | "key" | "models" | "health" | "engine" | "metrics" | "token";

/** One thing that was found out, for an operator. */
export interface Finding {
  readonly what: FindingWhat;
  /** `warn`: it can be attached, and something will be missing. */
  readonly level: "ok" | "warn" | "failed";
  readonly sentence: string;
  /** What to do about it; null where there is nothing to do. */
  readonly next: string | null;
}

export const ok = (what: FindingWhat, sentence: string): Finding => ({ what, level: "ok", sentence, next: null });
export const warn = (what: FindingWhat, sentence: string, next: string | null): Finding => ({ what, level: "warn", sentence, next });
export const failed = (what: FindingWhat, sentence: string, next: string | null): Finding => ({ what, level: "failed", sentence, next });
