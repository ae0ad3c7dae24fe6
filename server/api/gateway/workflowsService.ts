import { gatewayRoundsSchema } from "@/server/contracts/gateway/gatewayRounds";
import { gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import type { WorkflowRun } from "@/server/contracts/gateway/workflowRuns";
import type { LearntWorkflows, Outcome, WaitedRecords } from "@/server/contracts/studio";
import type { TryRunRequest } from "@/server/contracts/studio/declaredWorkflows";
import type { ObservedRounds } from "@/server/contracts/studio/observedGateway";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { Collector } from "@/server/telemetry/collector";
import { waitTimes } from "@/solver/workflow/learning/waitTimes";
import { tryRun } from "./tryRun";

/** A user waits for it, and it is requested again soon. */
const askLimitMs = 5_000;

const mostRecords = 1_000;

/** The required parts of a connected cluster. */
interface AskedCluster extends Pick<ConnectedCluster, "gateway" | "gatewayUrl" | "timeScale"> {
  readonly collector: () => Pick<Collector, "frames" | "decisions"> | null;
  readonly connector: Pick<ConnectedCluster["connector"], "emulated">;
}

/** What gateways have learnt of the applications that call them, and the waits between programs there. */
export function createWorkflowsService(clusterOf: (clusterId: string) => AskedCluster | null) {
  return {
    /** Refused if the gateway does not answer. */
    async get(clusterId: string): Promise<Outcome<{ readonly learnt: LearntWorkflows }>> {
      const cluster = clusterOf(clusterId);
      if (cluster === null) return { ok: true, learnt: { state: "no-gateway" } };
      const answer = await cluster.gateway("/workflows", { schema: gatewayWorkflowsSchema, limitMs: askLimitMs, alsoFine: [404] });
      if (!answer.ok) return answer;
      const workflows = answer.value.value;
      if (workflows === null) return { ok: true, learnt: { state: "older" } };
      const routing = cluster.collector()?.frames().at(-1)?.gateway.routing ?? null;
      const policy = routing && { order: routing.policy.order.kind, place: routing.policy.place.kind };
      const { emulated } = cluster.connector;
      return { ok: true, learnt: { state: "there", workflows, timeScale: cluster.timeScale(), emulated, policy } };
    },
    /** The latest rounds of its gateway. */
    async rounds(clusterId: string): Promise<Outcome<{ readonly seen: ObservedRounds }>> {
      const cluster = clusterOf(clusterId);
      if (cluster === null) return { ok: true, seen: { state: "no-gateway" } };
      const answer = await cluster.gateway("/rounds", { schema: gatewayRoundsSchema, limitMs: askLimitMs, alsoFine: [404] });
      if (!answer.ok) return answer;
      const rounds = answer.value.value;
      return { ok: true, seen: rounds === null ? { state: "older" } : { state: "there", rounds, timeScale: cluster.timeScale() } };
    },
    /** Makes the gateway run a workflow of the plan in force, with a client's request without a key; a failed run is reported as such. */
    async tryRun({ clusterId, workflow, input }: TryRunRequest, signal: AbortSignal): Promise<Outcome<{ readonly run: WorkflowRun }>> {
      const cluster = clusterOf(clusterId);
      if (cluster === null) return { ok: false, message: "This cluster is not connected: it has no gateway to run a workflow." };
      return tryRun(cluster.gatewayUrl, { workflow, input }, signal);
    },
    /** From the gateway's newest decision records in the studio, since the gateway's last start. */
    waitTimes(clusterId: string): WaitedRecords {
      const newest = clusterOf(clusterId)?.collector()?.decisions(mostRecords) ?? [];
      // A restarted gateway counts from the start again, and so does its clock.
      const restart = newest.findIndex(({ sequence }, at) => at > 0 && sequence >= (newest[at - 1]?.sequence ?? 0));
      const records = restart === -1 ? newest : newest.slice(0, restart);
      return { waited: waitTimes(records), records: records.length };
    },
  };
}
