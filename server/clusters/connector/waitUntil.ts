import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./connector";

/** One check: it holds (with what was found), it does not hold yet (and why), or it never will. */
export type Look = { readonly holds: string } | { readonly waiting: string } | { readonly failed: string };

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly report: (detail: string) => void;
  readonly limitMs: number;
  /** Interval of the checks. */
  readonly everyMs?: number;
}

/** Short enough that a step of a fast cluster does not linger. */
const defaultEveryMs = 200;

/** Checks repeatedly until something holds; past the limit it fails with the reason of the last wait. */
export async function waitUntil(look: () => Promise<Look>, options: WaitOptions): Promise<Answer<string>> {
  const { signal, report, limitMs, everyMs = defaultEveryMs } = options;
  const deadline = performance.now() + limitMs;
  let told = "";
  for (;;) {
    signal.throwIfAborted();
    const seen = await look();
    if ("holds" in seen) return { ok: true, value: seen.holds };
    if ("failed" in seen) return { ok: false, message: seen.failed };
    if (performance.now() >= deadline) return { ok: false, message: `After ${Math.round(limitMs / 1000)} s: ${seen.waiting}` };
    if (seen.waiting !== told) report(seen.waiting);
    told = seen.waiting;
    await sleep(everyMs, undefined, { signal });
  }
}
