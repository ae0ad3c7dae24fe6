import type { Decision } from "@/server/contracts/gatewayAdmin";
import type { LiveFrame, StageFrame } from "@/server/contracts/studio";
import { mean, quantile } from "@/solver/numeric/quantile";

type Measured = LiveFrame["measured"];

export interface WindowOptions {
  readonly timeScale: number;
  /** Quality label of the answer given back, where somebody knows it. */
  readonly labelOf?: (decision: Decision) => number | null;
}

export interface WindowQuery {
  readonly nowMs: number;
  /** Decisions of other plans do not count. */
  readonly planId: string | null;
}

export interface GatewayRates {
  readonly requestsPerSecond: number;
  readonly errorsPerSecond: number;
  readonly ttftP95Seconds: number | null;
}

/** The gateway's decisions of the last minutes, and what they say together. Seconds are engine seconds. */
export interface DecisionWindow {
  /** Takes decisions in the order of their sequence. */
  add(decisions: readonly Decision[]): void;
  /** Forgets what was measured until now: a load run or an application begins. */
  begin(nowMs: number): void;
  measured(query: WindowQuery): Measured;
  rates(query: WindowQuery): GatewayRates;
  /** What the decisions say of one stage, queue lengths aside. */
  stage(model: string, query: WindowQuery): Pick<StageFrame, "share" | "escalated" | "p95Seconds" | "meanJudgedScore">;
  /** Newest first. */
  latest(limit: number): readonly Decision[];
}

/** The measuring window is at most five minutes of engine time. */
const WINDOW_SECONDS = 300;

/** Rates look back over this much wall time. */
const RATE_WINDOW_MS = 10_000;

/** Five minutes at 120 requests/s. More than that shortens the window, and its length is always stated. */
const MAX_DECISIONS = 36_000;

/** Status of a request whose client left: neither answered nor an error. */
const CLIENT_GONE = 499;

const isAnswered = ({ status }: Decision): boolean => status < 400;
/** Refused, shed, timed out or broken. */
const isError = ({ status }: Decision): boolean => status >= 400 && status !== CLIENT_GONE;

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** An empty window that measures from `nowMs` on; earlier decisions that are added later do not count. */
export function createDecisionWindow({ timeScale, labelOf = () => null }: WindowOptions, nowMs: number): DecisionWindow {
  let decisions: Decision[] = [];
  let beganAtMs = nowMs;
  /** Set when decisions had to be dropped: the window cannot reach further back than this. */
  let keptFromMs = Number.NEGATIVE_INFINITY;

  const startMs = (now: number): number => Math.max(beganAtMs, keptFromMs, now - (WINDOW_SECONDS * 1000) / timeScale);
  const since = (fromMs: number, planId: string | null): readonly Decision[] =>
    decisions.filter((decision) => decision.finishedAtMs >= fromMs && decision.planId === planId);
  const answered = (query: WindowQuery): readonly Decision[] => since(startMs(query.nowMs), query.planId).filter(isAnswered);

  return {
    add(fresh) {
      decisions.push(...fresh);
      if (decisions.length <= MAX_DECISIONS) return;
      decisions = decisions.slice(-MAX_DECISIONS);
      keptFromMs = decisions[0]?.finishedAtMs ?? keptFromMs;
    },
    begin(now) {
      beganAtMs = now;
    },
    measured(query) {
      const good = answered(query);
      const latencies = good.map((decision) => decision.endToEndSeconds);
      return {
        requests: good.length,
        windowSeconds: (Math.max(0, query.nowMs - startMs(query.nowMs)) / 1000) * timeScale,
        p50Seconds: orNull(quantile(latencies, 0.5)),
        p95Seconds: orNull(quantile(latencies, 0.95)),
        meanQuality: orNull(mean(good.map(labelOf).filter((label) => label !== null))),
      };
    },
    rates(query) {
      const recent = since(query.nowMs - RATE_WINDOW_MS, query.planId);
      const failed = recent.filter(isError).length;
      const engineSeconds = (RATE_WINDOW_MS / 1000) * timeScale;
      const firstTokens = answered(query).map((decision) => decision.ttftSeconds);
      return {
        requestsPerSecond: recent.length / engineSeconds,
        errorsPerSecond: failed / engineSeconds,
        ttftP95Seconds: orNull(
          quantile(
            firstTokens.filter((seconds) => seconds !== null),
            0.95,
          ),
        ),
      };
    },
    stage(model, query) {
      const good = answered(query);
      // A replica that failed before the answer leaves a record of its own: the last one is the stage's outcome.
      const visits = good.flatMap((decision) => decision.stages.findLast((stage) => stage.model === model) ?? []);
      const scores = visits.map((visit) => visit.judgedScore).filter((score) => score !== null);
      return {
        share: orNull(visits.length / good.length),
        escalated: orNull(visits.filter((visit) => visit.verdict === "escalated").length / visits.length),
        p95Seconds: orNull(
          quantile(
            visits.map((visit) => visit.queueSeconds + visit.seconds),
            0.95,
          ),
        ),
        meanJudgedScore: orNull(mean(scores)),
      };
    },
    latest: (limit) => decisions.slice(-limit).reverse(),
  };
}
