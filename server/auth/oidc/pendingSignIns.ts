import { hashSecret, newSecret, sameHash } from "../secret";

/** A person types a password and a second factor in this time. */
export const pendingSeconds = 600;

/** Strangers may begin a sign-in: beyond this number the oldest is forgotten. */
const mostPending = 10_000;

/** What the answer of the provider is checked against. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly pkceVerifier: string;
}

export interface PendingSignIn extends OidcChecks {
  /** Binds the sign-in to the browser that began it: in its cookie alone. */
  readonly browserSecret: string;
}

interface Kept extends OidcChecks {
  readonly browserHash: string;
  readonly beganMs: number;
}

/**
 * Sign-ins that were begun and wait for the provider's answer, in memory: after a restart people begin again.
 *
 * @param nowMs the clock, in milliseconds
 */
export function createPendingSignIns(nowMs: () => number = Date.now) {
  /** By state, oldest first. */
  const kept = new Map<string, Kept>();
  const isOver = ({ beganMs }: Kept): boolean => nowMs() - beganMs > pendingSeconds * 1000;

  return {
    begin(): PendingSignIn {
      for (const [state, one] of kept) {
        if (!isOver(one) && kept.size < mostPending) break;
        kept.delete(state);
      }
      const begun = { state: newSecret(), nonce: newSecret(), pkceVerifier: newSecret(), browserSecret: newSecret() };
      const { browserSecret, ...checks } = begun;
      kept.set(checks.state, { ...checks, browserHash: hashSecret(browserSecret), beganMs: nowMs() });
      return begun;
    },
    /** What a sign-in is checked against, once; null where no such sign-in is pending, or another browser began it. */
    take(state: string, browserSecret: string): OidcChecks | null {
      const one = kept.get(state);
      if (one === undefined || isOver(one) || !sameHash(hashSecret(browserSecret), one.browserHash)) return null;
      kept.delete(state);
      const { nonce, pkceVerifier } = one;
      return { state, nonce, pkceVerifier };
    },
  };
}
