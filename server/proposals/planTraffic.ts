import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import type { TrafficGauge, TrafficReport } from "@/server/contracts/studio";
import type { WatchedTraffic } from "@/server/store/documents/watchedTraffic";
import { driftedIn, driftReference, observeWindow, RATE, steadyState } from "@/solver/numeric/drift";
import { mean } from "@/solver/numeric/quantile";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import type { Workload } from "@/solver/workload/workload";
import { type GateScores, gateScoresOf } from "./gateScores";
import { mirroredRequests, observedRequests, type ScoredRequest, trafficWindow } from "./observedRequests";
import { mirroredScoreName, plannedTraffic } from "./plannedTraffic";

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
  /** Reads the scores of the plan's gates. */
  readonly scores: GateScores;
  /** Takes the gateway's records and its mirror's, in any order; true when they ended a window, which was then judged. */
  observe(decisions: readonly Decision[], nowMs: number, mirrored?: readonly MirrorSample[]): boolean;
  readonly watched: WatchedTraffic;
  report(): TrafficReport;
  /** Requests of the last windows. */
  recent(): readonly ScoredRequest[];
  /** Those that the mirror sent through all models in the last windows. */
  recentMirrored(): readonly ScoredRequest[];
  /** Puts down that a plan was looked for, and why that led to none. */
  answer(says: string | null): void;
}

/** Starts to watch the traffic under a plan. Windows begin with the first request: a cluster without requests has no traffic to drift. */
export function createPlanTraffic(options: PlanTrafficOptions): PlanTraffic {
  const { plan, workload, timeScale, windowSeconds } = options;
  const planned = plannedTraffic(plan, workload);
  const scores = gateScoresOf(plan, workload);
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
  let windows: readonly { readonly seen: readonly ScoredRequest[]; readonly mirrored: readonly ScoredRequest[] }[] = [];

  function gauges(): readonly TrafficGauge[] {
    const kinds = new Map(planned.characteristics.map(({ name, kind, model }) => [name, { kind, ...(model !== undefined && { model }) }]));
    const unmirrored = new Set(
      modelsOf(plan.policy)
        .map(mirroredScoreName)
        .filter((name) => watched.now[name] === undefined),
    );
    return [...means].flatMap(([name, value]) => {
      // Without a mirror there is nothing to show of what it alone sees.
      if (unmirrored.has(name)) return [];
      const { level = null, drifted = false } = watched.state[name] ?? {};
      return { name, ...(kinds.get(name) ?? { kind: "rate" }), planned: value, now: watched.now[name] ?? null, level, drifted };
    });
  }

  return {
    plan,
    workload,
    scores,
    observe(decisions, nowMs, mirrored = []) {
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
      const copied = mirrored.filter(({ planId, atMs }) => planId === plan.id && atMs >= fromMs && atMs < nowMs);
      fromMs = nowMs;
      if (own.length === 0) {
        idle = true;
        return false;
      }
      const seen = observedRequests(own, timeScale, scores);
      const all = mirroredRequests(copied, timeScale, scores);
      windows = [...windows, { seen, mirrored: all }].slice(-RECENT_WINDOWS);
      const window = trafficWindow(seen, spanSeconds, { mirrored: all });
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
    recent: () => windows.flatMap(({ seen }) => seen),
    recentMirrored: () => windows.flatMap(({ mirrored }) => mirrored),
    answer(says) {
      const levels = Object.entries(watched.state).flatMap(([name, { drifted, level }]) => (drifted ? [[name, level ?? 0] as const] : []));
      watched = { ...watched, answered: Object.fromEntries(levels), says };
    },
  };
}
