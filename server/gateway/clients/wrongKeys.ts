import { TokenBucket } from "../http/callers";
import { AddressMemory } from "./addressMemory";
import type { ClientAddress } from "./clientAddress";

/** Wrong keys of one address that are answered as such: so many at once, then so many a minute. */
const wrongPerMinute = 20;
/** Right keys that are remembered of one address. */
const mostKeys = 100;

interface Known {
  readonly wrong: TokenBucket;
  /** Names of the keys that were right from there. */
  readonly right: Set<string>;
  /** Time until which keys that were never right from there are refused. */
  heldUntilMs: number;
}

/**
 * Slows down who guesses keys. An address that has sent many wrong ones must wait; meanwhile only keys that were right from there before are
 * let in, so that a guesser does not lock out the clients beside it. At an address that may be a proxy, right keys are never made to wait.
 */
export class WrongKeys {
  readonly #addresses = new AddressMemory<Known>((nowMs) => ({
    wrong: new TokenBucket(wrongPerMinute, nowMs),
    right: new Set(),
    heldUntilMs: 0,
  }));

  /** Counts a wrong key; returns the seconds that the address must wait, 0 if the answer may say that the key is wrong. */
  wrong({ name }: ClientAddress, nowMs: number): number {
    const known = this.#addresses.of(name, nowMs);
    const seconds = known.wrong.take(nowMs);
    if (seconds > 0) known.heldUntilMs = nowMs + seconds * 1000;
    return seconds;
  }

  /** Admits a right key; returns the seconds that it must wait, 0 if it is admitted. */
  right({ name, isShared }: ClientAddress, key: string, nowMs: number): number {
    const known = this.#addresses.of(name, nowMs);
    if (known.right.has(key)) return 0;
    if (!isShared && known.heldUntilMs > nowMs) return (known.heldUntilMs - nowMs) / 1000;
    if (known.right.size < mostKeys) known.right.add(key);
    return 0;
  }
}
