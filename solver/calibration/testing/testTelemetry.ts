import type { ReplicaOutcome, ReplicaRequests } from "@/solver/engine/replicaOutcome";
import { mean } from "@/solver/numeric/quantile";
import type { LiveHistory, LiveSample } from "../steadyWindows";

const LOOK_BACK_SECONDS = 15;

/** An engine's telemetry of a simulated run, second by second, after so many seconds and up to its last arrival. */
export function telemetryOf(outcome: ReplicaOutcome, { inputTokens }: ReplicaRequests, fromSecond: number): LiveHistory {
  const { arrivalSeconds, outputTokens, ttftSeconds, endToEndSeconds } = outcome;
  const requests = Array.from(endToEndSeconds, (endToEnd, index) => {
    const began = arrivalSeconds[index] ?? 0;
    const ttft = ttftSeconds[index] ?? 0;
    const output = outputTokens[index] ?? 0;
    return { began, first: began + ttft, ended: began + endToEnd, ttft, endToEnd, input: inputTokens[index] ?? 0, output };
  });
  /** Tokens of a request written by a time: its first at the first token, the others evenly up to its end. */
  const written = ({ first, ended, output }: (typeof requests)[number], second: number): number =>
    second < first ? 0 : second >= ended ? output : 1 + ((output - 1) * (second - first)) / (ended - first);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const samples: LiveSample[] = [];
  for (let second = fromSecond; second < (arrivalSeconds[arrivalSeconds.length - 1] ?? 0); second++) {
    const since = second - LOOK_BACK_SECONDS;
    const open = requests.filter(({ began, ended }) => began < second && ended > since);
    const first = open.filter(({ first }) => first > since && first <= second);
    const ended = open.filter((one) => one.ended <= second);
    const running = open.filter((one) => one.ended > second).length;
    const known = (values: readonly number[]): number | null => (values.length === 0 ? null : mean(values));
    samples.push({
      atMs: 1000 * second,
      running,
      runningAtEnd: running,
      waiting: 0,
      requestsPerSecond: ended.length / LOOK_BACK_SECONDS,
      promptTokensPerSecond: sum(first.map(({ input }) => input)) / LOOK_BACK_SECONDS,
      generationTokensPerSecond: sum(open.map((one) => written(one, second) - written(one, since))) / LOOK_BACK_SECONDS,
      preemptionsPerSecond: 0,
      prefixHitShare: null,
      ttftSeconds: known(first.map(({ ttft }) => ttft)),
      tpotSeconds: known(ended.flatMap(({ ttft, endToEnd, output }) => (output > 1 ? [(endToEnd - ttft) / (output - 1)] : []))),
      endToEndSeconds: known(ended.map(({ endToEnd }) => endToEnd)),
    });
  }
  return { samples, sampleMs: 1000, lookBackMs: 1000 * LOOK_BACK_SECONDS, timeScale: 1, resetsMs: [] };
}
