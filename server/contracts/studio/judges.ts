import type { JudgeTimeSource, JudgeTimes } from "@/solver/judging/judgeTime";
import type { Finding } from "./attachedCluster";

/** Why a test of a judge returned no score. */
export type JudgeFault =
  /** Its key is not set in the studio's environment. */
  | "no-key"
  /** Nothing answers at its address. */
  | "unreachable"
  /** It accepts calls and does not answer in time. */
  | "timed-out"
  | "key-refused"
  /** There is no chat completions API, or no such model. */
  | "not-found"
  /** It answers with an error. */
  | "failed"
  /** It answers, but not with a single number from 0 to 100. */
  | "no-score";

/** The results of real calls to a judge. */
export interface JudgeTest {
  /** ISO 8601. */
  readonly testedAt: string;
  /** null: it gave scores. */
  readonly fault: JudgeFault | null;
  /** The findings, in sentences. */
  readonly findings: readonly Finding[];
  /** For calls that returned a score; null: none did. */
  readonly times: JudgeTimes | null;
}

/** The time for which requests of the traffic waited for their judgements. */
export interface JudgeTraffic {
  readonly times: JudgeTimes;
  /** When the latest of them was answered, in ISO 8601. */
  readonly latestAt: string;
  /**
   * The number of judgements and the time of the latest when these times were settled: recorded in a plan, so that it stays the same plan
   * while they hold.
   */
  readonly settled: { readonly calls: number; readonly at: string };
}

/** A time of a call that an operator entered. */
interface EnteredJudgeTime {
  readonly secondsPerCall: number;
  readonly at: string;
  readonly by: string;
}

/** The state of the judge in its gateway. */
export interface JudgeHealth {
  readonly model: string;
  /** `circuit-open`: after consecutive failures it is not called for some seconds. `unavailable`: it cannot be called. */
  readonly state: "idle" | "answering" | "failing" | "circuit-open" | "unavailable";
  /** Why it is unhealthy; empty if it is healthy. */
  readonly reason: string;
  /** Calls since the gateway has this judge. */
  readonly scored: number;
  readonly failed: number;
  /** ISO 8601; null: none since the gateway has this judge. */
  readonly lastScoreAt: string | null;
  readonly lastFailureAt: string | null;
}

/** The judge of a cluster for answers that no engine of the plan judges, with its known times. */
export interface ClusterJudge {
  /** null: there is no judge. */
  readonly judge: { readonly model: string; readonly url: string | null } | null;
  /** null: it was never tested. */
  readonly test: JudgeTest | null;
  readonly testing: boolean;
  /** null: too few judgements were seen. */
  readonly traffic: JudgeTraffic | null;
  readonly entered: EnteredJudgeTime | null;
  /** The time that plans use. */
  readonly planned: { readonly secondsPerCall: number; readonly p95Seconds: number | null; readonly source: JudgeTimeSource };
  /** Whether the measurement that plans use is too old to describe the present. */
  readonly stale: boolean;
  /** Ratio of the time in the traffic to the test or the entry, if they differ; null: they do not, or cannot be compared. */
  readonly trafficRatio: number | null;
  /** null: its gateway does not report it. */
  readonly health: JudgeHealth | null;
}

/** The stored record of a cluster's judge. */
export interface JudgeRecord {
  /** Identifies the judge: its model, address and key's variable. */
  readonly of: string;
  /** Time since which the cluster has this judge, in ISO 8601. */
  readonly since: string;
  /** The newest. */
  readonly test: JudgeTest | null;
  /** The newest with times, which may be older than `test`; absent or null: `test`, or none has times. */
  readonly timed?: JudgeTest | null;
  readonly traffic: JudgeTraffic | null;
  readonly entered: EnteredJudgeTime | null;
}
