import type { JudgeTest } from "@/server/contracts/studio/judges";
import { canonicalJson } from "@/solver/plan/canonical";
import type { JudgeTarget } from "./judgeFinding";
import { measureJudge } from "./measureJudge";

/** A test in a dialog counts for the attachment that follows. */
const KEPT_TEST_MS = 10 * 60_000;

/** Tests of judges that run or ran in the last minutes, by the judge that is called: its address, key and model. */
export interface JudgeTests {
  /** A test of the last minutes without a fault; null: there is none. */
  recent(target: JudgeTarget): JudgeTest | null;
  isRunning(target: JudgeTarget): boolean;
  /** Tests it, or waits for the running test. Rejects when `signal` fires; the test continues for other callers. */
  measure(target: JudgeTarget, signal: AbortSignal): Promise<JudgeTest>;
}

/** @param ending ends the tests that run. */
export function createJudgeTests(ending: AbortSignal): JudgeTests {
  const kept = new Map<string, { readonly atMs: number; readonly test: JudgeTest }>();
  const running = new Map<string, Promise<JudgeTest>>();
  const keyOf = (target: JudgeTarget): string => canonicalJson({ ...target });

  async function run(target: JudgeTarget): Promise<JudgeTest> {
    const key = keyOf(target);
    try {
      const test = await measureJudge(target, { signal: ending });
      kept.set(key, { atMs: Date.now(), test });
      return test;
    } finally {
      running.delete(key);
    }
  }

  return {
    recent(target) {
      const known = kept.get(keyOf(target));
      return known !== undefined && known.test.fault === null && Date.now() - known.atMs < KEPT_TEST_MS ? known.test : null;
    },
    isRunning: (target) => running.has(keyOf(target)),
    measure(target, signal) {
      const key = keyOf(target);
      // Two tests at once would measure each other.
      const test = running.get(key) ?? run(target);
      running.set(key, test);
      return unlessAborted(test, signal);
    },
  };
}

/** The promise's outcome, or a rejection with the signal's reason if that fires first. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
