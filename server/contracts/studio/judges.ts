import type { JudgeTimeSource, JudgeTimes } from "@/solver/judging/judgeTime";
import type { Finding } from "./attachedCluster";

/** Why a test of a judge brought no score. */
export type JudgeFault =
  /** Its key is not set where the studio runs. */
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
  /** It answers, and not with a single number from 0 to 100. */
  | "no-score";

/** What real calls to a judge showed. */
export interface JudgeTest {
  /** ISO 8601. */
  readonly testedAt: string;
  /** null: it gave scores. */
  readonly fault: JudgeFault | null;
  /** What was found, in sentences. */
  readonly findings: readonly Finding[];
  /** Of calls that brought a score; null: none did. */
  readonly times: JudgeTimes | null;
}

/** What requests of the traffic waited for their judgements. */
export interface JudgeTraffic {
  readonly times: JudgeTimes;
  /** When the latest of them was answered, in ISO 8601. */
  readonly latestAt: string;
  /** How many there were, and when the latest was, when the times became these: what a plan records, so that it stays the same plan while they hold. */
  readonly settled: { readonly calls: number; readonly at: string };
}

/** A time of a call that an operator entered. */
interface EnteredJudgeTime {
  readonly secondsPerCall: number;
  readonly at: string;
  readonly by: string;
}

/** The judge as its gateway knows it. */
export interface JudgeHealth {
  readonly model: string;
  /** `circuit-open`: after failures in a row it is not called for some seconds. `unavailable`: it cannot be called. */
  readonly state: "idle" | "answering" | "failing" | "circuit-open" | "unavailable";
  /** Why, where it is not well; empty where it is. */
  readonly reason: string;
  /** Calls since the gateway has this judge. */
  readonly scored: number;
  readonly failed: number;
  /** ISO 8601; null: none since the gateway has this judge. */
  readonly lastScoreAt: string | null;
  readonly lastFailureAt: string | null;
}

/** The judge of a cluster that answers are sent to which no engine of the plan judges, and what is known of its time. */
export interface ClusterJudge {
  /** null: nobody judges answers there. */
  readonly judge: { readonly model: string; readonly url: string | null } | null;
  /** null: it was never tested. */
  readonly test: JudgeTest | null;
  readonly testing: boolean;
  /** null: too few judgements were seen. */
  readonly traffic: JudgeTraffic | null;
  readonly entered: EnteredJudgeTime | null;
  /** What plans take. */
  readonly planned: { readonly secondsPerCall: number; readonly p95Seconds: number | null; readonly source: JudgeTimeSource };
  /** Whether the measurement that plans take is so old that it may say nothing of now. */
  readonly stale: boolean;
  /** Traffic shows another time than the test or the entry: how many times of it; null: it does not, or nothing can be compared. */
  readonly trafficRatio: number | null;
  /** null: its gateway does not say. */
  readonly health: JudgeHealth | null;
}

/** What is kept of a cluster's judge. */
export interface JudgeRecord {
  /** Which judge it is about: its model, address and key's variable. */
  readonly of: string;
  /** Since when the cluster has this judge, in ISO 8601. */
  readonly since: string;
  /** The newest. */
  readonly test: JudgeTest | null;
  /** The newest that brought times, which may be older than `test`; left out or null: `test`, or none did. */
  readonly timed?: JudgeTest | null;
  readonly traffic: JudgeTraffic | null;
  readonly entered: EnteredJudgeTime | null;
}
