import { setTimeout as sleep } from "node:timers/promises";
import { createGatewayService } from "@/server/api/gateway/gatewayService";
import { createCardStore } from "@/server/cards/cardStore";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { createGatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import type { MeasuredChange } from "@/server/contracts/studio";
import { startLoad } from "@/server/load/driver";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { createPredictionMonitor } from "@/server/proposals/predictionMonitor";
import { createTrafficWatch } from "@/server/proposals/trafficWatch";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";
import type { SlackStep } from "@/solver/plan/planSlack";
import { thresholdsOf } from "@/solver/plan/policySchema";
import type { PolicyOverrides } from "@/solver/policies/policyControls";
import { drawSample } from "@/solver/workload/sample";

const clusterId = "embedded";
const actor = "bench";
const GPUS = 4;
/** Engine seconds per wall second. */
const TIME_SCALE = 4;
const PROMPTS = 3000;
const LADDER = ["qwen2.5-3b", "qwen2.5-32b"];

/** What is planned, at a rate that two cores can drive. */
const REQUESTS_PER_SECOND = 8;
const FLOOR = 45;

/** Wall seconds of load before the first change, and after each until it is read. */
const WARM_UP_SECONDS = 15;
const MEASURED_SECONDS = 42;
const CHANGES = 5;

/** Times that a change is tried, and wall seconds between them. */
const ATTEMPTS = 4;
const LATE_SECONDS = 3;

/** Longer than a roll-out and all changes take. */
const MOST_SECONDS = 600;

/** A change of the slack on the running cluster with its forecast, and what was measured after it. */
export interface LiveChange {
  readonly policy: "cascade" | "slack";
  readonly plan: string;
  /** Slack of a cascade, as a fraction of its fastest p95, or tau. */
  readonly from: number;
  readonly to: number;
  readonly measured: MeasuredChange;
}

/**
 * Applies the fastest cascade and then the fastest slack dispatch to the emulated cluster under its hidden truth, changes the slack of each
 * five times under load of held-out prompts, and reads forecast and measurement as the Live page does.
 */
export async function liveChanges(progress: (line: string) => void): Promise<readonly LiveChange[]> {
  const ending = new AbortController();
  const limit = setTimeout(() => ending.abort(new Error(`No end after ${MOST_SECONDS} s`)), MOST_SECONDS * 1000);
  const planner = createPlanner();
  const cluster = await startTestCluster({ gpus: GPUS, timeScale: TIME_SCALE, prompts: PROMPTS, ladder: LADDER });
  const { store, gateway, workload, connector } = cluster;
  const labels = new Map<string, number>();
  let collector: Collector | null = null;
  try {
    const spec = { id: clusterId, name: clusterId, gpu: "l40s", nodes: [{ name: "node1", gpus: GPUS }], usdPerGpuHour: 1 };
    store.clusters.insert({ ...spec, kind: "embedded" }, new Date().toISOString());
    const workloadId = storeWorkload(store, workload);
    const audit = createGatewayAudit({ store, clusterId, gateway });
    const watching = watch();
    collector = watching;
    const planning = createPlanningService(store, planner, createCardStore(cluster.environment.WEIR_STATE_DIR));
    const source = {
      decisions: watching.decisions,
      mirrored: watching.mirrored,
      timeScale: TIME_SCALE,
      frame: () => watching.frames().at(-1) ?? null,
      labelOf: ({ id }: { readonly id: string }) => labels.get(id) ?? null,
      ...{ emulated: true, emulatedAsPlanned: false },
    };
    // No window ends, so that no plan is looked for meanwhile.
    const traffic = createTrafficWatch({ store, planning, sourceOf: () => source, windowSeconds: 1e6 });
    const monitor = createPredictionMonitor({ store, planner, trafficOf: traffic.traffic, sourceOf: () => source });
    const service = createGatewayService({
      ...{ store, planning, clusterOf: () => ({ collector: () => watching }) },
      gatewayOf: () => ({ admin: gateway, audit, look: () => watching.askGateway(), models: watching.models }),
    });
    const changes: LiveChange[] = [];
    for (const policy of ["cascade", "slack"] as const) {
      const plan = await planned(policy, workloadId);
      progress(`${plan.metadata.name}: p95 ${plan.predictions.p95Seconds.toFixed(2)} s, ${JSON.stringify(plan.predictions.slack)}`);
      await apply(plan);
      const load = startLoad({
        ...{ id: policy, gatewayUrl: cluster.gatewayUrl, model: defaultCascade, timeScale: TIME_SCALE, workloadName: workload.name },
        ...{ requestsPerSecond: REQUESTS_PER_SECOND, seconds: MOST_SECONDS * TIME_SCALE, outcomes: workload.outcomes, labelled: true },
        sample: drawSample(workload, {
          ...{ part: "heldOut", requestsPerSecond: REQUESTS_PER_SECOND, seed: policy === "cascade" ? 11 : 12 },
          requests: MOST_SECONDS * TIME_SCALE * REQUESTS_PER_SECOND,
        }),
        onLabel: (id, label) => labels.set(id, label),
      });
      await sleep(WARM_UP_SECONDS * 1000);
      let from = policy === "cascade" ? 0 : plan.policy.kind === "slack" ? plan.policy.tau : Number.NaN;
      let inForce: PolicyOverrides = plan.policy.kind === "slack" ? { tau: from } : { thresholds: thresholdsOf(plan.policy) };
      for (const step of targetsOf(plan)) {
        ending.signal.throwIfAborted();
        await change(step, inForce);
        inForce = valuesOf(step);
        const measured = monitor.lastChange(clusterId);
        if (measured === null) throw new Error("The change was not measured");
        changes.push({ policy, plan: plan.metadata.name, from, to: step.value, measured });
        progress(`${from} to ${step.value}: ${measured.requests} requests, ${measured.notComparable}, ${figuresText(measured)}`);
        from = step.value;
      }
      const { failed, notes } = await load.stop();
      progress(`${failed} requests failed; ${(notes ?? []).join(" ")}`);
    }
    await Promise.all([monitor.close(), traffic.close()]);
    return changes;

    /** Forecasts and sets a step as an operator does, again where the gateway of a busy machine answers late. */
    async function change(step: SlackStep, before: PolicyOverrides): Promise<void> {
      const values = valuesOf(step);
      for (let attempt = 1; ; attempt += 1) {
        await watching.askGateway();
        const routing = watching.routing();
        if (routing === null) throw new Error("The gateway has no policy in force");
        const { etag, policyHash } = routing;
        const forecast = await service.forecastControls(clusterId, { ...values, policyHash }, ending.signal);
        if (!forecast.ok) throw new Error(forecast.message);
        const set = await service.setControls(clusterId, { ...ordered(values), etag, reason: actor }, actor);
        if (set.ok) break;
        progress(set.message);
        if (attempt === ATTEMPTS) throw new Error(set.message);
        await sleep(LATE_SECONDS * 1000);
        await watching.askGateway();
        const now = watching.routing();
        // It took effect without being recorded: back, so that the change can be made again.
        if (now !== null && now.policyHash !== policyHash)
          await service.setControls(clusterId, { ...ordered(before), etag: now.etag, reason: actor }, actor);
      }
      await sleep(MEASURED_SECONDS * 1000);
      await watching.askGateway();
    }
  } finally {
    clearTimeout(limit);
    collector?.close();
    await planner.close();
    await cluster.stop();
  }

  function watch(): Collector {
    let engines: Parameters<typeof createCollector>[0]["targets"] extends () => infer Targets ? Targets : never = [];
    const looking = setInterval(async () => {
      const seen = await connector.observe();
      if (seen.ok) engines = seen.value.engines.map(({ id, model, url }) => ({ id, model, url, gpus: [] }));
    }, 1000);
    const made = createCollector({
      ...{ clusterId, targets: () => engines, dcgmUrls: [], gatewayAdminUrl: cluster.gatewayAdminUrl, adminToken: cluster.token },
      ...{ timeScale: TIME_SCALE, labelOf: ({ id }) => labels.get(id) ?? null },
    });
    const close = (): void => {
      clearInterval(looking);
      made.close();
    };
    return { ...made, close };
  }

  async function planned(policy: LiveChange["policy"], workloadId: string): Promise<Plan> {
    const answer = await planner.solve({
      ...{ workload, workloadId, requestsPerSecond: REQUESTS_PER_SECOND, fixed: null, policy },
      cluster: { id: clusterId, name: clusterId, kind: "embedded", gpu: "l40s", nodes: [{ name: "node1", gpus: GPUS }], usdPerGpuHour: 1 },
      objective: {
        ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: FLOOR, qualityConfidence: 0.9 },
        ...{ latencyBudgetSeconds: null, maxGpus: GPUS },
      },
    });
    if (answer.outcome !== "plan") throw new Error(answer.reason);
    store.plans.keep(answer.plan);
    store.approvals.insert({ planId: answer.plan.id, clusterId, actor, at: new Date().toISOString(), reason: "" });
    return answer.plan;
  }

  async function apply(plan: Plan): Promise<void> {
    const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
    const started = await runner.start({ clusterId, planId: plan.id, kind: "apply", actor });
    if (!started.ok) throw new Error(started.message);
    for (;;) {
      ending.signal.throwIfAborted();
      const { state, error } = store.applications.get(started.application.id) ?? { state: "failed", error: "it is gone" };
      if (state === "done") break;
      if (error !== null) throw new Error(error);
      await sleep(50);
    }
    await runner.close();
  }
}

const valuesOf = ({ value, thresholds }: SlackStep): PolicyOverrides => (thresholds === undefined ? { tau: value } : { thresholds });

/** Values as an order has them. */
const ordered = ({ thresholds, tau }: PolicyOverrides) => (thresholds === undefined ? { tau } : { thresholds: [...thresholds] });

/** Five approved steps of a plan's slack, each another than the one before: the widest changes first. */
function targetsOf({ predictions: { slack }, metadata }: Plan): readonly SlackStep[] {
  const steps = (slack?.steps ?? []).filter(({ approved }) => approved);
  if (steps.length < 3) throw new Error(`${metadata.name} has ${steps.length} approved steps of slack`);
  const last = steps.length - 1;
  const places = [last, 0, Math.round(last / 2), last, Math.round(last / 4)];
  return places.slice(0, CHANGES).flatMap((place) => steps[place] ?? []);
}

const figuresText = ({ figures }: MeasuredChange): string =>
  figures.map(({ name, promised, measured }) => `${name} ${promised?.toFixed(2)} against ${measured?.toFixed(2)}`).join(", ");
