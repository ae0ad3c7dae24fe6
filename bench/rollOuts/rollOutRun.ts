import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { Application, RollOutDip, WorkloadSummary } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { type DecisionCount, DecisionReader } from "./decisionCount";
import { dipOf, figuresOf } from "./predicted";
import { type PhaseReport, RollOutLoad } from "./rollOutLoad";

/** GPUs of each model. */
type Layout = Readonly<Record<string, readonly number[]>>;

/** Two plans of a cluster between which models exchange GPUs. */
export interface Scenario {
  readonly name: string;
  readonly gpus: number;
  readonly from: Layout;
  readonly to: Layout;
}

export interface RollOutReport {
  /** Share of the lower simulated rate of both plans; requests per engine second. */
  readonly capacityPerSecond: number;
  readonly requestsPerSecond: number;
  /** p95 of the active plan at that rate, simulated. */
  readonly predictedP95Seconds: number;
  /** Preview of applying the second plan, as shown to an operator. */
  readonly dip: RollOutDip;
  /** Share of the cluster's GPUs that another model gets. */
  readonly movedShare: number;
  readonly phases: readonly PhaseReport[];
  /** Ends of the applications, in their order. */
  readonly ends: readonly string[];
  /** What clients received instead of a whole answer. */
  readonly failures: readonly string[];
  readonly decisions: DecisionCount;
  /** The plan that the gateway follows at the end is the first one. */
  readonly isBack: boolean;
}

export interface RunOptions {
  readonly scenario: Scenario;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** Wall seconds before, between and after the applications. */
  readonly restSeconds: number;
}

const loadShare = 0.6;
const at = "2026-01-01T00:00:00.000Z";

/**
 * Applies a plan under load and reverts it: once aborted half way, once completed and rolled back. The emulator, the gateway,
 * the runner and its steps are those of the product.
 */
export async function runRollOuts({ scenario, timeScale, restSeconds }: RunOptions): Promise<RollOutReport> {
  const ending = new AbortController();
  const cluster = await startTestCluster({ gpus: scenario.gpus, timeScale, prompts: 400 });
  try {
    const from = planOnGpus("from", scenario.from);
    const to = planOnGpus("to", scenario.to);
    const { store, gateway, gatewayUrl, workload, connector } = cluster;
    store.clusters.insert({ ...from.inputs.cluster, id: "embedded", kind: "embedded" }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    for (const plan of [from, to]) {
      store.plans.keep(plan);
      store.approvals.insert({ planId: plan.id, clusterId: "embedded", actor: "bench", at, reason: "" });
    }
    const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
    const ends: string[] = [];
    const start = async (plan: Plan, kind: Application["kind"]): Promise<string> => {
      const started = await runner.start({ clusterId: "embedded", planId: plan.id, kind, actor: "bench", rollBackOnRegression: false });
      if (!started.ok) throw new Error(started.message);
      return started.application.id;
    };
    const until = async (id: string, holds: (application: NonNullable<ReturnType<typeof store.applications.get>>) => boolean) => {
      for (;;) {
        const application = store.applications.get(id);
        if (application !== null && holds(application)) return application;
        await rest(0.02);
      }
    };
    const ended = async (id: string): Promise<void> => {
      const { kind, state, error } = await until(id, ({ endedAt }) => endedAt !== null);
      ends.push(error === null ? `${kind} ${state}` : `${kind} ${state}: ${error}`);
    };

    await ended(await start(from, "apply"));
    const capacities = [from, to].map((plan) => figuresOf(plan, { workload, requestsPerSecond: 1 }).capacityPerSecond ?? 0);
    const capacityPerSecond = Math.min(...capacities);
    const requestsPerSecond = loadShare * capacityPerSecond;
    const traffic = { workload, requestsPerSecond };
    const predicted = figuresOf(from, traffic);
    const dip = await dipOf(
      { connector, running: from, target: to, timeScale, applications: store.applications.list("embedded") },
      traffic,
    );
    const reader = new DecisionReader(gateway);
    const load = new RollOutLoad({ gatewayUrl, workload, requestsPerSecond, timeScale, signal: ending.signal });
    const inPhase = async (phase: string, act: () => Promise<void>): Promise<void> => {
      load.phase = phase;
      await act();
      load.phase = "at rest";
      await rest(restSeconds);
    };
    await rest(restSeconds);
    await inPhase("given up half way", async () => {
      const id = await start(to, "apply");
      await until(id, ({ steps }) => steps.filter((step) => step.state === "done").length >= steps.length / 2);
      const aborted = runner.abort(id, "bench");
      if (!aborted.ok) throw new Error(aborted.message);
      await ended(id);
    });
    await inPhase("forwards", async () => ended(await start(to, "apply")));
    await inPhase("rolled back", async () => ended(await start(from, "rollback")));
    const phases = await load.end();
    const decisions = await reader.end();
    const observed = await connector.observe();
    await runner.close();
    return {
      capacityPerSecond,
      requestsPerSecond,
      predictedP95Seconds: predicted.p95Seconds ?? Number.POSITIVE_INFINITY,
      dip,
      movedShare: movedGpus(scenario) / scenario.gpus,
      phases,
      ends: ends.slice(1),
      failures: load.failures,
      decisions,
      isBack: observed.ok && observed.value.routing.planId === from.id,
    };
  } finally {
    ending.abort();
    await cluster.stop();
  }
}

const rest = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** GPUs on which another model runs afterwards, or a model where none ran. */
function movedGpus({ from, to }: Scenario): number {
  const modelOn = (layout: Layout, gpu: number) => Object.keys(layout).find((model) => layout[model]?.includes(gpu));
  return Object.values(to)
    .flat()
    .filter((gpu) => modelOn(from, gpu) !== modelOn(to, gpu)).length;
}

/** No GPU is spare: old engines drain before new ones are up. */
export const noneSpare: Scenario = {
  name: "4 of 8 GPUs, none spare",
  gpus: 8,
  from: { "qwen2.5-3b": [0, 1, 2, 3], "qwen2.5-7b": [4, 5, 6, 7] },
  to: { "qwen2.5-3b": [2, 3, 4, 5], "qwen2.5-7b": [0, 1, 6, 7] },
};

/** New engines come up before old ones drain. */
export const fourSpare: Scenario = {
  name: "4 of 12 GPUs, 4 spare",
  gpus: 12,
  from: { "qwen2.5-3b": [0, 1, 2, 3], "qwen2.5-7b": [4, 5, 6, 7] },
  to: { "qwen2.5-3b": [0, 1, 8, 9], "qwen2.5-7b": [4, 5, 10, 11] },
};

/** One engine is replaced by one of another model: for a time there is none at all, and every request waits. */
export const onlyEngine: Scenario = {
  name: "the only GPU",
  gpus: 1,
  from: { "qwen2.5-3b": [0] },
  to: { "qwen2.5-7b": [0] },
};
