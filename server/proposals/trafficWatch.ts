import { randomUUID } from "node:crypto";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import type { Proposal, TrafficReport } from "@/server/contracts/studio";
import { workloadOfPlan } from "@/server/planning/planner/trainedConfidence";
import type { Planning } from "@/server/planning/planningService";
import type { Store } from "@/server/store/store";
import { RATE } from "@/solver/numeric/drift";
import { startSeconds } from "../clusters/steps/startSeconds";
import { createPlanTraffic, type PlanTraffic, WINDOW_SECONDS } from "./planTraffic";
import { proposeChange } from "./proposeChange";
import { trafficNow } from "./trafficNow";

/** Records of a cluster's gateway. */
export interface TrafficSource {
  /** Newest first. */
  decisions(limit: number): readonly Decision[];
  /** Requests that its mirror sent through all models, as many as are kept. */
  mirrored(): readonly MirrorSample[];
  readonly timeScale: number;
}

export interface TrafficWatchOptions {
  readonly store: Store;
  readonly planning: Pick<Planning, "solve" | "predict">;
  /** null: nothing is seen of the cluster's traffic. */
  readonly sourceOf: (clusterId: string) => TrafficSource | null;
  readonly windowSeconds?: number;
  readonly lookEveryMs?: number;
  readonly now?: () => number;
}

/** Watches the traffic of every cluster with a plan in force, and proposes another plan if it has drifted. Applies nothing. */
export interface TrafficWatch {
  /** null: no plan is in force, or its workload is not here. */
  report(clusterId: string): TrafficReport | null;
  /** The traffic under the plan in force with that plan and its workload; null as for the report. */
  traffic(clusterId: string): PlanTraffic | null;
  /** Resolves when a running search has ended; it is aborted. */
  close(): Promise<void>;
}

/** As many as a collector keeps. */
const MOST_DECISIONS = 20_000;

/** A plan is looked for again when a level has risen by so much since: the traffic is another one again. */
const FURTHER = 1;

/** In whose name proposals are made and closed. */
const STUDIO = "studio";

/** Starts to watch. A search that fails is logged, and tried again with the next window. */
export function createTrafficWatch(options: TrafficWatchOptions): TrafficWatch {
  const { store, planning, sourceOf, windowSeconds = WINDOW_SECONDS, lookEveryMs = 1000, now = Date.now } = options;
  const watching = new Map<string, PlanTraffic>();
  const ending = new AbortController();
  let search: Promise<void> | null = null;

  function look(): void {
    for (const { id: clusterId, runningPlanId } of store.clusters.list()) {
      const source = sourceOf(clusterId);
      const traffic = source === null ? null : trafficOf(clusterId, runningPlanId, source);
      if (source === null || traffic === null) continue;
      if (!traffic.observe(source.decisions(MOST_DECISIONS), now(), source.mirrored())) continue;
      if (traffic.watched.driftedSince === null) close(clusterId, "superseded", "the traffic is as planned again");
      save(clusterId, traffic);
      if (search === null && isNews(traffic)) {
        search = propose(clusterId, traffic, source.timeScale)
          .catch((problem: unknown) => {
            if (!ending.signal.aborted) process.stderr.write(`Looking for a plan for drifted traffic failed: ${problem}\n`);
          })
          .finally(() => {
            search = null;
          });
      }
    }
  }

  function trafficOf(clusterId: string, planId: string | null, { timeScale }: TrafficSource): PlanTraffic | null {
    const known = watching.get(clusterId);
    if (known?.plan.id === planId) return known ?? null;
    watching.delete(clusterId);
    const plan = planId === null ? null : store.plans.get(planId);
    const workload = plan === null ? null : workloadOfPlan(store, plan);
    const waits = store.proposals.open(clusterId);
    if (waits !== null && waits.runningPlanId !== planId)
      close(clusterId, waits.planId === planId ? "applied" : "superseded", "another plan was put into force");
    const kept = store.traffic.get(clusterId);
    // A plan that is put into force again is watched from the start: only a restart of the studio continues from the stored state.
    if (kept !== null && kept.planId !== planId) store.traffic.remove(clusterId);
    if (plan === null || workload === null) return null;
    const before = kept?.planId === plan.id ? kept.traffic : null;
    const traffic = createPlanTraffic({ plan, workload, timeScale, windowSeconds, before, nowMs: now() });
    watching.set(clusterId, traffic);
    return traffic;
  }

  const save = (clusterId: string, { plan, watched }: PlanTraffic): void =>
    store.traffic.save({ clusterId, planId: plan.id, traffic: watched });

  const note = (action: string, subject: string, detail: string): void =>
    store.audit.add({ at: new Date(now()).toISOString(), actor: STUDIO, action, subject, detail, objectKind: "plan", objectId: subject });

  function close(clusterId: string, state: "superseded" | "applied", why: string): void {
    const waits = store.proposals.open(clusterId);
    if (waits === null) return;
    store.atomically(() => {
      store.proposals.close(waits.id, state, { at: new Date(now()).toISOString(), by: STUDIO });
      note(`proposal ${state}`, waits.planId, why);
    });
  }

  async function propose(clusterId: string, traffic: PlanTraffic, timeScale: number): Promise<void> {
    const { plan } = traffic;
    const { gauges, last, driftedSince } = traffic.report();
    const drifted = gauges.filter((gauge) => gauge.drifted);
    const seen = trafficNow(store, {
      plan,
      workload: traffic.workload,
      requests: traffic.recent(),
      mirrored: traffic.recentMirrored(),
      requestsPerSecond: traffic.watched.now[RATE] ?? null,
      changed: drifted.map(({ name }) => name),
      nowMs: now(),
    });
    const starts = startSeconds(store.applications.list(clusterId), timeScale);
    const asked = { plan, clusterId, traffic: seen, restartSeconds: starts.seconds, signal: ending.signal };
    const change = await proposeChange(planning, asked);
    // Another plan may be in force by now: the result is then about the previous one.
    if (watching.get(clusterId) !== traffic || store.clusters.get(clusterId)?.runningPlanId !== plan.id) return;
    traffic.answer(change.outcome === "none" ? change.says : null);
    save(clusterId, traffic);
    close(clusterId, "superseded", "the traffic has changed further");
    if (change.outcome === "none" || driftedSince === null) return;
    const { proposed, reason, gain, change: replicas } = change;
    const proposal: Proposal = {
      id: randomUUID(),
      clusterId,
      createdAt: new Date(now()).toISOString(),
      state: "open",
      closed: null,
      runningPlanId: plan.id,
      planId: proposed.id,
      driftedSince,
      drifted,
      reason,
      gain,
      change: replicas,
      basis: [
        `Seen at the gateway: ${last?.requests ?? 0} requests in the last ${Math.round(last?.seconds ?? 0)} s.`,
        ...seen.basis,
        "The plan in force was simulated under the same traffic. Quality is modelled: no label is seen in serving.",
        starts.basis,
      ],
    };
    store.atomically(() => {
      store.plans.keep(proposed);
      store.proposals.insert(proposal);
      note("propose plan", proposed.id, `${drifted.map(({ name }) => name).join(", ")} drifted. ${reason}`);
    });
  }

  const timer = setInterval(look, lookEveryMs);
  timer.unref();
  return {
    report: (clusterId) => watching.get(clusterId)?.report() ?? null,
    traffic: (clusterId) => watching.get(clusterId) ?? null,
    async close() {
      clearInterval(timer);
      ending.abort(new Error("The studio ends."));
      await search;
    },
  };
}

/** Whether something has drifted that no plan was looked for yet, or much further than then. */
function isNews({ watched: { state, answered } }: PlanTraffic): boolean {
  return Object.entries(state).some(([name, { drifted, level }]) => drifted && (level ?? 0) >= (answered?.[name] ?? -FURTHER) + FURTHER);
}
