import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { TrafficGauge, TrafficReport } from "@/server/contracts/studio";
import type { WatchedTraffic } from "@/server/store/documents/watchedTraffic";
import { driftedIn, driftReference, observeWindow, RATE, steadyState } from "@/solver/numeric/drift";
import { mean } from "@/solver/numeric/quantile";
import type { Plan } from "@/solver/plan/plan";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import type { Workload } from "@/solver/workload/workload";
import { observedRequests, trafficWindow } from "./observedRequests";
import { plannedTraffic } from "./plannedTraffic";

/** The source looks at 50 requests every 5 minutes (Cascadia, section 4.4). A window is longer if they take longer to arrive. */
export const WINDOW_SECONDS = 300;
const LEAST_REQUESTS = 50;

/** Windows whose requests a plan is made from: as many as a judgement of drift takes. */
const RECENT_WINDOWS = 2;

export interface PlanTrafficOptions {
  readonly plan: Plan;
  /** What the plan was made from. */
  readonly workload: Workload;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly windowSeconds: number;
  /** The state before a restart; null: nothing was observed. */
  readonly before: WatchedTraffic | null;
  readonly nowMs: number;
}

/** The traffic under one plan, window by window. */
export interface PlanTraffic {
  readonly plan: Plan;
  readonly workload: Workload;
  /** Takes the gateway's records, in any order; true when they ended a window, which was then judged. */
  observe(decisions: readonly Decision[], nowMs: number): boolean;
  readonly watched: WatchedTraffic;
  report(): TrafficReport;
  /** Requests of the last windows. */
  recent(): readonly ObservedRequest[];
  /** Puts down that a plan was looked for, and why that led to none. */
  answer(says: string | null): void;
}

/** Starts to watch the traffic under a plan. Windows begin with the first request: a cluster without requests has no traffic to drift. */
export function createPlanTraffic(options: PlanTrafficOptions): PlanTraffic {
  const { plan, workload, timeScale, windowSeconds } = options;
  const planned = plannedTraffic(plan, workload);
  const reference = driftReference(planned, workload.seed);
  const means = new Map([
    [RATE, planned.requestsPerSecond],
    ...planned.characteristics.map(({ name, values }) => [name, mean(values)] as const),
  ]);
  let watched: WatchedTraffic = options.before ?? {
    ...{ state: steadyState(reference), now: {}, last: null, driftedSince: null, answered: null, says: null },
  };
  let fromMs = options.nowMs;
  let idle = true;
  let windows: readonly (readonly ObservedRequest[])[] = [];

  function gauges(): readonly TrafficGauge[] {
    const kinds = new Map(planned.characteristics.map(({ name, kind, model }) => [name, { kind, ...(model !== undefined && { model }) }]));
    return [...means].map(([name, value]) => {
      const { level = null, drifted = false } = watched.state[name] ?? {};
      return { name, ...(kinds.get(name) ?? { kind: "rate" }), planned: value, now: watched.now[name] ?? null, level, drifted };
    });
  }

  return {
    plan,
    workload,
    observe(decisions, nowMs) {
      const seconds = (): number => ((nowMs - fromMs) / 1000) * timeScale;
      if (!idle && seconds() < windowSeconds) return false;
      const own = decisions
        .filter(({ planId, finishedAtMs }) => planId === plan.id && finishedAtMs >= fromMs && finishedAtMs < nowMs)
        .sort((a, b) => a.finishedAtMs - b.finishedAtMs);
      if (idle && own.length > 0) {
        fromMs = Math.max(
          fromMs,
          Math.min(...own.map(({ finishedAtMs, endToEndSeconds }) => finishedAtMs - (endToEndSeconds * 1000) / timeScale)),
        );
        idle = false;
      }
      const spanSeconds = seconds();
      if (spanSeconds < windowSeconds || (own.length > 0 && own.length < LEAST_REQUESTS)) return false;
      fromMs = nowMs;
      if (own.length === 0) {
        idle = true;
        return false;
      }
      const seen = observedRequests(own, timeScale);
      windows = [...windows, seen].slice(-RECENT_WINDOWS);
      const window = trafficWindow(seen, spanSeconds);
      const at = new Date(nowMs).toISOString();
      const state = observeWindow(reference, watched.state, window);
      const drifted = driftedIn(state).length > 0;
      const now = Object.entries(window.samples).map(([name, values]) => [name, mean(values ?? [])]);
      watched = {
        state,
        now: { ...watched.now, ...Object.fromEntries(now), [RATE]: seen.length / spanSeconds },
        last: { at, requests: seen.length, seconds: spanSeconds },
        driftedSince: drifted ? (watched.driftedSince ?? at) : null,
        answered: drifted ? watched.answered : null,
        says: drifted ? watched.says : null,
      };
      return true;
    },
    get watched() {
      return watched;
    },
    report: () => ({
      ...{ planId: plan.id, windowSeconds, last: watched.last, gauges: gauges() },
      ...{ driftedSince: watched.driftedSince, says: watched.says },
    }),
    recent: () => windows.flat(),
    answer(says) {
      const levels = Object.entries(watched.state).flatMap(([name, { drifted, level }]) => (drifted ? [[name, level ?? 0] as const] : []));
      watched = { ...watched, answered: Object.fromEntries(levels), says };
    },
  };
}
