import { randomUUID } from "node:crypto";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import type { LoadStatus, Outcome } from "@/server/contracts/studio";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import { type LoadRun, startLoad } from "@/server/load/driver";
import { profiledRequests } from "@/server/profiling/profiledRequests";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf } from "@/solver/plan/policySchema";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { drawSample } from "@/solver/workload/sample";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import type { Actor } from "../base/actor";
import type { LoadRequest } from "../base/inputs";

/** Seeds the draw of prompts: it differs from the planner's draw, and the prompts are held-out ones in any case. */
const loadSeed = 2;

const idle: LoadStatus = {
  state: "idle",
  id: null,
  workloadName: "",
  requestsPerSecond: 0,
  seconds: 0,
  elapsedSeconds: 0,
  sent: 0,
  finished: 0,
  failed: 0,
  p50Seconds: null,
  p95Seconds: null,
  quality: null,
  error: null,
};

export interface LoadServiceOptions {
  readonly store: Store;
  /** null: the cluster has no gateway. */
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector" | "connector" | "gatewayUrl" | "timeScale"> | null;
  /** Quality labels of answers, by the gateway's id of the decision. */
  readonly labels: Map<string, number>;
}

/** The prompts' scores by the router of the plan in force, if it has a modelled one; the gateway has the scores of a trained one itself. */
function readByRouterOf({ policy }: Plan, { outcomes, seed }: Workload): OutcomeTable {
  const router = directStartOf(policy)?.router;
  return router?.kind === "modelled" ? withRouterScores(outcomes, { auc: router.auc, seed }) : outcomes;
}

/** More answers than any measuring window contains. */
const keptLabels = 100_000;

/** Replays a workload through the gateway of a cluster, one run at a time. */
export function createLoadService({ store, clusterOf, labels }: LoadServiceOptions) {
  let run: LoadRun | null = null;
  const status = (): LoadStatus => run?.status() ?? idle;
  const note = store.audit.noting("load");

  const onLabel = (decisionId: string, label: number): void => {
    labels.set(decisionId, label);
    const oldest = labels.keys().next().value;
    if (labels.size > keptLabels && oldest !== undefined) labels.delete(oldest);
  };

  return {
    status,
    start({ clusterId, workloadId, requestsPerSecond, seconds }: LoadRequest, actor: Actor): Outcome<{ readonly status: LoadStatus }> {
      const refuse = (message: string) => ({ ok: false as const, message });
      const cluster = clusterOf(clusterId);
      if (cluster === null) return refuse("This cluster is not connected: there is no gateway to send to.");
      if (status().state === "running") return refuse("Load is running already: stop it first.");
      const planId = store.clusters.get(clusterId)?.runningPlanId ?? null;
      const plan = planId === null ? null : store.plans.get(planId);
      if (plan === null) return refuse("No plan is in force: apply one, then send load.");
      const workload = loadWorkload(store, workloadId);
      if (workload === null) return refuse(`There is no workload ${workloadId}.`);
      const requests = Math.max(1, Math.round(requestsPerSecond * seconds));
      run = startLoad({
        id: randomUUID(),
        gatewayUrl: cluster.gatewayUrl,
        model: defaultCascade,
        timeScale: cluster.timeScale(),
        workloadName: workload.name,
        requestsPerSecond,
        seconds,
        sample: drawSample(workload, { part: "heldOut", requestsPerSecond, requests, seed: loadSeed }),
        outcomes: readByRouterOf(plan, workload),
        // Only emulated engines replay the prompts of the plan's workload; prompts of another workload get an arbitrary row of it.
        labelled: cluster.connector.emulated && plan.inputs.workload.id === workloadId,
        requests: cluster.connector.emulated ? null : profiledRequests({ store, workloadId, workload, clusterId }),
        onLabel,
      });
      cluster.collector()?.beginWindow();
      note(
        actor,
        "start load",
        { subject: workload.name, objectId: workloadId, clusterId },
        `${requestsPerSecond} requests/s for ${seconds} s`,
      );
      return { ok: true, status: run.status() };
    },
    /** Stops sending and aborts requests in flight. */
    async stop(actor: Actor): Promise<LoadStatus> {
      if (run === null || status().state !== "running") return status();
      note(actor, "stop load", status().workloadName);
      return run.stop();
    },
    async close() {
      await run?.stop();
    },
  };
}
