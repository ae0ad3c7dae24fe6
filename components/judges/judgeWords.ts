import type { ClusterJudge, JudgeHealth } from "@/server/contracts/studio";
import { type JudgeTimeSource, type JudgeTimes, judgeSourceText } from "@/solver/judging/judgeTime";
import type { Tone } from "../ui/Badge";
import { formatAge, formatCount, formatCounted, formatSeconds } from "../ui/format";

const ageOf = (iso: string, nowMs: number): string => {
  const age = formatAge(Math.max(0, (nowMs - Date.parse(iso)) / 1000));
  return age === "now" ? "just now" : `${age} ago`;
};

/** The source of a time, with its age: `measured in traffic (400 calls), 3 min ago`. */
export function sourceWords(source: JudgeTimeSource, nowMs: number): string {
  const { measuredAt } = source;
  return measuredAt === undefined ? judgeSourceText(source) : `${judgeSourceText(source)}, ${ageOf(measuredAt, nowMs)}`;
}

/** The time that plans use: `20 ms a call, p95 31 ms`. */
export function plannedWords({ secondsPerCall, p95Seconds }: ClusterJudge["planned"]): string {
  return `${formatSeconds(secondsPerCall)} a call${p95Seconds === null ? "" : `, p95 ${formatSeconds(p95Seconds)}`}`;
}

/** Mean and percentiles of measured calls. */
const timesWords = ({ calls, meanSeconds, p50Seconds, p95Seconds }: JudgeTimes): string =>
  `mean ${formatSeconds(meanSeconds)}, p50 ${formatSeconds(p50Seconds)}, p95 ${formatSeconds(p95Seconds)}, of ${formatCounted(calls, "call")}`;

/** The judge's time in traffic. */
export const trafficWords = ({ times, latestAt }: NonNullable<ClusterJudge["traffic"]>, nowMs: number): string =>
  `${timesWords(times)}; the latest ${ageOf(latestAt, nowMs)}`;

/** The result of the last test, with its age. */
export function testWords({ times, testedAt }: NonNullable<ClusterJudge["test"]>, nowMs: number): string {
  return times === null ? `no score, ${ageOf(testedAt, nowMs)}` : `${timesWords(times)}; ${ageOf(testedAt, nowMs)}`;
}

/** A note that the time in traffic differs from the test or the entry; null where it does not. */
export function driftWords({ trafficRatio, entered }: Pick<ClusterJudge, "trafficRatio" | "entered">): string | null {
  if (trafficRatio === null) return null;
  const before = entered === null ? "measured by the test" : "the time entered";
  return `In traffic a call takes ${trafficRatio.toFixed(1)} times as long as ${before}.`;
}

const states: Readonly<Record<JudgeHealth["state"], readonly [word: string, tone: Tone]>> = {
  idle: ["not called yet", "neutral"],
  answering: ["gives scores", "good"],
  failing: ["last call failed", "warn"],
  "circuit-open": ["not called: it failed repeatedly", "bad"],
  unavailable: ["cannot be called", "bad"],
};

/** The judge's state, in a word with its tone, and its latest calls. */
export function healthWords(health: JudgeHealth, nowMs: number): { readonly word: string; readonly tone: Tone; readonly says: string } {
  const [word, tone] = states[health.state];
  const { reason, scored, failed, lastScoreAt, lastFailureAt } = health;
  const parts = [
    ...(reason === "" ? [] : [reason]),
    ...(scored + failed === 0 ? [] : [`${formatCounted(scored, "score")}, ${formatCount(failed)} failed`]),
    ...(lastScoreAt === null ? [] : [`last score ${ageOf(lastScoreAt, nowMs)}`]),
    ...(lastFailureAt === null ? [] : [`last failure ${ageOf(lastFailureAt, nowMs)}`]),
  ];
  return { word, tone, says: parts.join("; ") };
}
