import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { LiveFrame, MeasuredChange, Outcome } from "@/server/contracts/studio";
import type { PlanInput, PromiseReport, TrafficToPlan } from "@/server/contracts/studio/promise";
import type { Planner } from "@/server/planning/planner/planner";
import { heldUsdPerHour } from "@/server/series/heldUsdPerHour";
import type { Store } from "@/server/store/store";
import { notComparable, type PromiseWindow, promiseWindow } from "../clusters/watch/promiseWindow";
import { changedOf, explainBroken, needsSimulation, type UnderMeasured } from "./explainBroken";
import { measuredChange } from "./measuredChange";
import { measuredPromises } from "./measuredPromises";
import { observedRequests } from "./observedRequests";
import { planInputs } from "./planInputs";
import { plannedAcceptedScores } from "./plannedTraffic";
import type { PlanTraffic } from "./planTraffic";
import { trafficNow } from "./trafficNow";
import type { TrafficSource } from "./trafficWatch";
import { underMeasured } from "./underMeasured";

/** A cluster's traffic with the other data for comparing promises. */
export interface PromiseSource extends TrafficSource {
  /** The newest; null before the first. */
  frame(): LiveFrame | null;
  /** Quality label of an answer; null if unknown. */
  labelOf(decision: Decision): number | null;
  readonly emulated: boolean;
  /** Whether emulated engines follow the planner's own model to the letter. */
  readonly emulatedAsPlanned: boolean;
}

export interface PredictionMonitorOptions {
  readonly store: Store;
  readonly planner: Pick<Planner, "solve">;
  readonly trafficOf: (clusterId: string) => PlanTraffic | null;
  /** null: nothing is seen of the cluster. */
  readonly sourceOf: (clusterId: string) => PromiseSource | null;
  readonly now?: () => number;
}

/** The promises of plans in force with their measurements, computed on request; simulates a plan again only if a promise is broken. */
export interface PredictionMonitor {
  /**
   * Over the measuring window of Live, or since `sinceMs`, as far back as decisions are kept. null: no plan is in force, its workload is not
   * here, or nothing was measured yet.
   */
  report(clusterId: string, sinceMs?: number): PromiseReport | null;
  /** The planning input that describes the present traffic. A workload made from observations is stored. */
  toPlan(clusterId: string): Outcome<{ readonly traffic: TrafficToPlan }>;
  /**
   * The last change of the controls of the plan in force, with what is measured since. null: they were not changed, no plan is in force,
   * its workload is not here, or nothing was measured yet.
   */
  lastChange(clusterId: string): MeasuredChange | null;
  /** Resolves when a running simulation has ended; it is aborted. */
  close(): Promise<void>;
}

/** As many as a collector keeps. */
const MOST_DECISIONS = 20_000;

/** Reports of one cluster are made no more often, whatever the number of readers. */
const FRESH_MS = 4000;

/** If an input is further from the simulated one, the plan is simulated again, but no sooner than this time after the last simulation. */
const FURTHER = { ratio: 1.08, points: 2 } as const;
const RESIMULATE_MS = 20_000;

interface Simulated {
  readonly planId: string;
  readonly inputs: readonly PlanInput[];
  readonly atMs: number;
  /** null: running. */
  under: UnderMeasured | null;
}

/** Creates the monitor. A simulation that fails is logged, and tried again while there are readers. */
export function createPredictionMonitor({
  store,
  planner,
  trafficOf,
  sourceOf,
  now = Date.now,
}: PredictionMonitorOptions): PredictionMonitor {
  const fresh = new Map<string, { readonly atMs: number; readonly report: PromiseReport }>();
  const simulated = new Map<string, Simulated>();
  const acceptedScores = new WeakMap<PlanTraffic, readonly number[]>();
  const ending = new AbortController();
  let simulating: Promise<void> | null = null;

  const isApplying = (clusterId: string): boolean =>
    store.applications.list(clusterId).some(({ state }) => state === "grace" || state === "running" || state === "paused");

  function look(clusterId: string, sinceMs?: number) {
    const [traffic, source] = [trafficOf(clusterId), sourceOf(clusterId)];
    const frame = source?.frame() ?? null;
    if (traffic === null || source === null || frame === null) return null;
    const window = promiseWindow(traffic.plan, source.decisions(MOST_DECISIONS), frame, sinceMs);
    const inputs = planInputs(traffic, traffic.report().gauges, { window, frame });
    return { traffic, source, frame, window, inputs };
  }

  function made(clusterId: string, sinceMs?: number): PromiseReport | null {
    const seen = look(clusterId, sinceMs);
    if (seen === null) return null;
    const { traffic, source, frame, window, inputs } = seen;
    const { plan, workload } = traffic;
    const scores = acceptedScores.get(traffic) ?? plannedAcceptedScores(plan, workload);
    acceptedScores.set(traffic, scores);
    const reason = notComparable(plan, frame, isApplying(clusterId));
    const promises = measuredPromises({
      ...{ plan, window, acceptedScores: scores, labelOf: source.labelOf, notComparable: reason },
      usdPerHour: heldUsdPerHour(frame.engines, frame.engines, plan.inputs.cluster),
    });
    const requests = observedRequests(window.seen, frame.timeScale, traffic.scores);
    if (promises.some(needsSimulation) && (plan.policy.kind === "cascade" || plan.policy.kind === "slack"))
      simulate(clusterId, { plan, workload, inputs, requests });
    const known = simulated.get(clusterId);
    const under = known?.planId === plan.id ? known.under : null;
    const { windowSeconds, last, driftedSince, says } = traffic.report();
    return {
      ...{ planId: plan.id, atMs: frame.atMs, requests: window.counts.answered, failed: window.counts.failed },
      ...{ windowSeconds: window.seconds, notComparable: reason },
      ...{ emulated: source.emulated, emulatedAsPlanned: source.emulatedAsPlanned, promises, inputs, simulating: simulating !== null },
      drift: { windowSeconds, last, driftedSince, says },
      broken: explainBroken({ plan, window, promises, inputs, under }),
      notes: notesOn(window),
    };
  }

  function simulate(clusterId: string, measured: Parameters<typeof underMeasured>[1]): void {
    const known = simulated.get(clusterId);
    const same = known?.planId === measured.plan.id;
    const holds = same && known.under !== null && !isFurther(known.inputs, measured.inputs);
    if (simulating !== null || holds || (same && now() - known.atMs < RESIMULATE_MS)) return;
    const before = same ? known.under : null;
    const next: Simulated = { planId: measured.plan.id, inputs: measured.inputs, atMs: now(), under: before };
    simulated.set(clusterId, next);
    simulating = underMeasured(planner, measured, ending.signal)
      .then((under) => {
        next.under = under;
      })
      .catch((problem: unknown) => {
        if (!ending.signal.aborted) process.stderr.write(`Simulating the plan in force under measured traffic failed: ${problem}\n`);
      })
      .finally(() => {
        simulating = null;
        fresh.delete(clusterId);
      });
  }

  return {
    report(clusterId, sinceMs) {
      if (sinceMs !== undefined) return made(clusterId, sinceMs);
      const known = fresh.get(clusterId);
      if (known !== undefined && now() - known.atMs < FRESH_MS && known.report.planId === trafficOf(clusterId)?.plan.id)
        return known.report;
      const report = made(clusterId);
      if (report === null) fresh.delete(clusterId);
      else fresh.set(clusterId, { atMs: now(), report });
      return report;
    },
    toPlan(clusterId) {
      const seen = look(clusterId);
      if (seen === null) return { ok: false, message: "No plan is in force here, or nothing was measured yet." };
      const { traffic, frame, window, inputs } = seen;
      const changed = changedOf(inputs).filter(({ kind }) => kind === "rate" || kind === "tokens" || kind === "score");
      const requestsPerSecond = changed.find(({ kind }) => kind === "rate")?.now ?? null;
      return {
        ok: true,
        traffic: trafficNow(store, {
          ...{ plan: traffic.plan, workload: traffic.workload, requestsPerSecond, nowMs: now() },
          requests: observedRequests(window.seen, frame.timeScale, traffic.scores),
          mirrored: traffic.recentMirrored(),
          changed: changed.map(({ name }) => name),
        }),
      };
    },
    lastChange(clusterId) {
      const [traffic, source, change] = [trafficOf(clusterId), sourceOf(clusterId), store.controlChanges.last(clusterId)];
      const frame = source?.frame() ?? null;
      if (traffic === null || source === null || frame === null || change === null || change.planId !== traffic.plan.id) return null;
      const { plan, workload } = traffic;
      const decisions = source.decisions(MOST_DECISIONS);
      return measuredChange({
        plan,
        workload,
        change,
        decisions,
        frame,
        labelOf: source.labelOf,
        applying: isApplying(clusterId),
      });
    },
    async close() {
      ending.abort(new Error("The studio ends."));
      await simulating;
    },
  };
}

function notesOn({ answered, counts }: PromiseWindow): string[] {
  const unanswered = counts.seen - counts.answered;
  return [
    ...(unanswered === 0
      ? []
      : [
          `${unanswered} of ${counts.seen} requests had no answer (failed, rejected, or their client left): they are in the rate and in no other figure.`,
        ]),
    ...(answered.length < counts.answered ? [`Figures are of the newest ${answered.length} requests.`] : []),
  ];
}

/** Whether other inputs moved, or the same ones much further. */
function isFurther(before: readonly PlanInput[], inputs: readonly PlanInput[]): boolean {
  const [was, is] = [changedOf(before), changedOf(inputs)];
  if (was.length !== is.length) return true;
  return is.some(({ name, kind, now }) => {
    const then = was.find((input) => input.name === name)?.now ?? null;
    if (now === null || then === null) return now !== then;
    if (kind === "score") return Math.abs(now - then) > FURTHER.points;
    return Math.abs(Math.log(now / then)) > Math.log(FURTHER.ratio);
  });
}
