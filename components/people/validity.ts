import type { Tone } from "../ui/Badge";
import { formatDate } from "../ui/format";

const DAY_MS = 86_400_000;

/** A key or a token that ends within this time is marked. */
const SOON_DAYS = 7;

/** A state as `StateWord` shows it. */
export interface ShownState {
  readonly tone: Tone;
  readonly word: string;
}

/** The state of something that expires and can be revoked. */
export function validity(of: { readonly expiresAt: string | null; readonly revokedAt: string | null }, nowMs: number): ShownState {
  if (of.revokedAt !== null) return { tone: "neutral", word: "revoked" };
  if (of.expiresAt === null) return { tone: "good", word: "valid" };
  const left = Date.parse(of.expiresAt) - nowMs;
  if (left <= 0) return { tone: "neutral", word: "expired" };
  if (left > SOON_DAYS * DAY_MS) return { tone: "good", word: "valid" };
  return { tone: "warn", word: left < DAY_MS ? "expires within a day" : `expires in ${Math.ceil(left / DAY_MS)} days` };
}

/** A time, or the word for none. */
export const timeOr = (iso: string | null, none: string): string => (iso === null ? none : formatDate(iso));
