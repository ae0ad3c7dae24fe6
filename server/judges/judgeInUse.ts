import type { JudgeRecord, JudgeTest } from "@/server/contracts/studio/judges";
import { DEFAULT_JUDGE } from "@/solver/cascade/explore/situation";
import type { JudgeTimeSource, JudgeTimes, JudgeVariation } from "@/solver/judging/judgeTime";

type Known = Pick<JudgeRecord, "test" | "timed" | "traffic" | "entered">;

/** The time of a judge that plans take. */
export interface PlannedJudgeTime {
  readonly secondsPerCall: number;
  /** null: every call takes the mean. */
  readonly p95Seconds: number | null;
  readonly variation: JudgeVariation | null;
  readonly source: JudgeTimeSource;
  readonly stale: boolean;
}

/** A test's calls are sequential, while there may be no other load; a day later the judge may be another one. */
const TEST_STALE_MS = 24 * 3600_000;
/** Traffic follows the load of the hour. */
const TRAFFIC_STALE_MS = 3600_000;

/**
 * The judge's time used for plans: the operator's entry, otherwise traffic of the last hour, otherwise the newest measurement, otherwise an
 * assumption.
 */
export function judgeTimeInUse({ entered, ...known }: Known, nowMs: number): PlannedJudgeTime {
  const measured = measurements(known, nowMs);
  const [best] = measured;
  if (entered !== null) {
    const { secondsPerCall } = entered;
    // The operator gives the mean; how calls vary about it is measured or not known.
    const scale = best === undefined ? null : secondsPerCall / best.times.meanSeconds;
    return {
      secondsPerCall,
      p95Seconds: best === undefined || scale === null ? null : best.times.p95Seconds * scale,
      variation: best?.times.variation ?? null,
      source: { kind: "entered" },
      stale: false,
    };
  }
  if (best === undefined)
    return { secondsPerCall: DEFAULT_JUDGE.secondsPerCall, p95Seconds: null, variation: null, source: { kind: "assumed" }, stale: false };
  const { times, kind, at, stale } = best;
  return {
    secondsPerCall: times.meanSeconds,
    p95Seconds: times.p95Seconds,
    variation: times.variation,
    source: { kind, calls: times.calls, measuredAt: at },
    stale,
  };
}

interface Measured {
  readonly kind: "measured-at-attach" | "measured-from-traffic";
  readonly times: JudgeTimes;
  readonly at: string;
  readonly stale: boolean;
}

/** The best first: fresh traffic, then whichever is newer. */
function measurements({ traffic, ...tests }: Omit<Known, "entered">, nowMs: number): readonly Measured[] {
  const isOld = (at: string, limitMs: number): boolean => nowMs - Date.parse(at) > limitMs;
  const found: Measured[] = [];
  if (traffic !== null) {
    const { times, latestAt: at } = traffic;
    found.push({ kind: "measured-from-traffic", times, at, stale: isOld(at, TRAFFIC_STALE_MS) });
  }
  const test = timedTest(tests);
  if (test?.times)
    found.push({ kind: "measured-at-attach", times: test.times, at: test.testedAt, stale: isOld(test.testedAt, TEST_STALE_MS) });
  const rank = ({ kind, stale }: Measured): number => (kind === "measured-from-traffic" && !stale ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || b.at.localeCompare(a.at));
}

/** The newest test with times: a later failed test does not affect them. null: there is none. */
export const timedTest = ({ test, timed = null }: Pick<Known, "test" | "timed">): JudgeTest | null => (test?.times ? test : timed);

/**
 * Ratio of the traffic's time to the tested or entered one, if it is more than a quarter off; null if it is not, or one of them is missing.
 */
export function trafficRatio({ traffic, entered, ...tests }: Known): number | null {
  const before = entered?.secondsPerCall ?? timedTest(tests)?.times?.meanSeconds ?? null;
  if (traffic === null || before === null || before <= 0) return null;
  const ratio = traffic.times.meanSeconds / before;
  return ratio > 1.25 || ratio < 0.8 ? ratio : null;
}
