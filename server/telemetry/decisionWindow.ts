import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MeasuredFrame, MeasuredRange, RecentFrame } from "@/server/contracts/studio";
import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import type { Clock } from "./clock";

export interface WindowOptions {
  readonly timeScale: number;
  readonly clock: Clock;
  /** Quality label of the returned answer, if known. */
  readonly labelOf?: (decision: Decision) => number | null;
}

interface WindowQuery {
  /** Decisions of other plans count in rates only: the measurements are compared with this plan's promise. */
  readonly planId: string | null;
  /** The same holds for decisions of the same plan before its knobs were changed. null: no policy is known. */
  readonly policyHash: string | null;
  /** Models of the cascade's stages, in order. */
  readonly models: readonly string[];
}

/** Up to now, or between two wall times. */
export type AskedRange = { readonly lastMs: number } | { readonly fromMs: number; readonly toMs: number };

/** Summary of the window's decisions. Seconds, also those of rates, are engine seconds. */
interface WindowSummary {
  readonly measured: MeasuredFrame;
  readonly requestsPerSecond: number;
  readonly errorsPerSecond: number;
  readonly ttftP95Seconds: number | null;
  readonly overheadP95Seconds: number | null;
  /** Parallel to the query's models. */
  readonly stages: RecentFrame["stages"];
  /** The same for the last half minute only. */
  readonly recent: RecentFrame;
}

/** The gateway's decisions of the last minutes. */
export interface DecisionWindow {
  /** Adds decisions in the order of their sequence. */
  add(decisions: readonly Decision[]): void;
  /**
   * Restarts the measurement of latency, quality and shares: a load run or an application begins, or another policy is in force. Rates
   * continue: traffic does not stop.
   */
  begin(): void;
  summarise(query: WindowQuery): WindowSummary;
  /** The same for a range of wall time. A range up to now reaches back no further than to the start of the measurement. */
  over(query: WindowQuery, range: AskedRange): MeasuredRange;
  /** Newest first. */
  latest(limit: number): readonly Decision[];
}

/** The measuring window is at most five minutes of engine time. */
const WINDOW_SECONDS = 300;

/** Rates cover this much time, not in engine time. */
export const RATE_WINDOW_MS = 10_000;

/** Charts cover this much engine time, and at least as much wall time as rates do. */
const RECENT_SECONDS = 30;

/** Over a minute at 250 requests/s, and 20 to 30 ms of work a frame. More shortens the window, whose length is always stated. */
const MAX_DECISIONS = 20_000;

/** Status of a request whose client disconnected: neither answered nor an error. */
const CLIENT_GONE = 499;

const isAnswered = ({ status }: Decision): boolean => status < 400;
/** Rejected for lack of room or of an engine, before it was admitted: the gateway counts those separately. */
const isShed = ({ status, stages, startReason }: Decision): boolean =>
  (status === 429 || status === 503) && stages.length === 0 && startReason === undefined;
/** Admitted and refused by an engine, timed out or broken off. */
const isError = (decision: Decision): boolean => !isAnswered(decision) && decision.status !== CLIENT_GONE && !isShed(decision);

const known = (values: readonly (number | null)[]): Float64Array => new Float64Array(values.filter((value) => value !== null));
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
const p95 = (values: readonly (number | null)[]): number | null => orNull(quantileOfSorted(known(values).sort(), 0.95));

/**
 * An empty window that measures from now on; earlier decisions that are added later do not count. The end of a decision is given in wall
 * time, and stored on the steady clock by its age when it is added.
 */
export function createDecisionWindow({ timeScale, clock, labelOf = () => null }: WindowOptions): DecisionWindow {
  let decisions: { readonly atMs: number; readonly decision: Decision }[] = [];
  /** Times of answers and of errors within the span of rates, including decisions that were dropped. */
  let answeredMs: number[] = [];
  let failedMs: number[] = [];
  let beganAtMs = clock.steadyMs();
  /** Set when decisions had to be dropped: the window cannot reach further back than this. */
  let keptFromMs = Number.NEGATIVE_INFINITY;

  const secondsOf = (spanMs: number): number => (Math.max(0, spanMs) / 1000) * timeScale;
  const countingFrom = (startMs: number, { planId, policyHash }: Pick<WindowQuery, "planId" | "policyHash">) =>
    decisions.filter(
      ({ atMs, decision }) => atMs >= startMs && decision.planId === planId && decision.policyHash === policyHash && isAnswered(decision),
    );

  return {
    add(fresh) {
      const [now, wallMs] = [clock.steadyMs(), clock.wallMs()];
      for (const decision of fresh) {
        const atMs = now - Math.max(0, wallMs - decision.finishedAtMs);
        decisions.push({ atMs, decision });
        if (isAnswered(decision)) answeredMs.push(atMs);
        else if (isError(decision)) failedMs.push(atMs);
      }
      const isLate = (atMs: number): boolean => atMs >= now - RATE_WINDOW_MS;
      answeredMs = answeredMs.filter(isLate);
      failedMs = failedMs.filter(isLate);
      if (decisions.length <= MAX_DECISIONS) return;
      decisions = decisions.slice(-MAX_DECISIONS);
      keptFromMs = decisions[0]?.atMs ?? keptFromMs;
    },
    begin() {
      beganAtMs = clock.steadyMs();
    },
    summarise({ planId, policyHash, models }) {
      const now = clock.steadyMs();
      const startMs = Math.max(beganAtMs, keptFromMs, now - (WINDOW_SECONDS * 1000) / timeScale);
      const counting = countingFrom(startMs, { planId, policyHash });
      const answered = counting.map(({ decision }) => decision);
      const perSecond = (timesMs: readonly number[]): number =>
        timesMs.filter((atMs) => atMs >= now - RATE_WINDOW_MS).length / ((RATE_WINDOW_MS / 1000) * timeScale);
      const recentMs = Math.max(startMs, now - Math.max(RATE_WINDOW_MS, (RECENT_SECONDS * 1000) / timeScale));
      const measuredOf = (requests: readonly Decision[], sinceMs: number) => figuresOf(requests, secondsOf(now - sinceMs), labelOf);
      const detailsOf = (requests: readonly Decision[]) => ({
        ttftP95Seconds: p95(requests.map((decision) => decision.ttftSeconds)),
        overheadP95Seconds: p95(requests.map((decision) => decision.overheadSeconds)),
        stages: models.map((model) => stageSummary(model, requests)),
      });
      const lately = counting.flatMap(({ atMs, decision }) => (atMs >= recentMs ? decision : []));
      return {
        measured: measuredOf(answered, startMs),
        requestsPerSecond: perSecond(answeredMs),
        errorsPerSecond: perSecond(failedMs),
        ...detailsOf(answered),
        recent: { ...measuredOf(lately, recentMs), ...detailsOf(lately) },
      };
    },
    over({ planId, policyHash, models }, range) {
      const [now, wallMs] = [clock.steadyMs(), clock.wallMs()];
      const follows = "lastMs" in range;
      const steady = (atMs: number): number => Math.min(now, now - wallMs + atMs);
      const fromMs = follows ? now - range.lastMs : steady(range.fromMs);
      const toMs = follows ? now : steady(range.toMs);
      const beganMs = follows ? beganAtMs : Number.NEGATIVE_INFINITY;
      const startMs = Math.max(fromMs, beganMs, keptFromMs);
      const requests = countingFrom(startMs, { planId, policyHash }).flatMap(({ atMs, decision }) => (atMs <= toMs ? decision : []));
      return {
        measured: figuresOf(requests, secondsOf(toMs - startMs), labelOf),
        stages: models.map((model) => stageSummary(model, requests)),
        labelled: known(requests.map(labelOf)).length,
        cutBy: startMs === fromMs ? null : startMs === beganMs ? "began" : "kept",
      };
    },
    latest: (limit) => {
      const newest = decisions.slice(-limit).reverse();
      return newest.map(({ decision }) => decision);
    },
  };
}

function figuresOf(requests: readonly Decision[], windowSeconds: number, labelOf: (decision: Decision) => number | null): MeasuredFrame {
  const latencies = new Float64Array(requests.map((decision) => decision.endToEndSeconds)).sort();
  return {
    requests: requests.length,
    windowSeconds,
    p50Seconds: orNull(quantileOfSorted(latencies, 0.5)),
    p95Seconds: orNull(quantileOfSorted(latencies, 0.95)),
    p99Seconds: orNull(quantileOfSorted(latencies, 0.99)),
    meanQuality: orNull(mean(known(requests.map(labelOf)))),
  };
}

function stageSummary(model: string, answered: readonly Decision[]): WindowSummary["stages"][number] {
  // A replica that failed before the answer has its own record: the last one is the stage's outcome.
  const visits = answered
    .map((decision) => decision.stages.findLast((stage) => stage.model === model))
    .filter((stage) => stage !== undefined);
  const seconds = new Float64Array(visits.map((visit) => visit.queueSeconds + visit.seconds)).sort();
  return {
    share: orNull(visits.length / answered.length),
    escalated: orNull(visits.filter((visit) => visit.verdict === "escalated").length / visits.length),
    p50Seconds: orNull(quantileOfSorted(seconds, 0.5)),
    p95Seconds: orNull(quantileOfSorted(seconds, 0.95)),
    p99Seconds: orNull(quantileOfSorted(seconds, 0.99)),
    meanJudgedScore: orNull(mean(known(visits.map((visit) => visit.judgedScore)))),
  };
}
