import { randomUUID } from "node:crypto";
import type { CardStore } from "@/server/cards/cardStore";
import type { ClusterSummary, GpuChoice, Outcome } from "@/server/contracts/studio";
import { type ClusterAttentionParts, clusterAttention } from "@/server/fleet/clusterAttention";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import { cardOf } from "@/solver/hardware/catalogue";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Actor } from "../base/actor";
import type { ClusterDescription } from "../base/inputs";

const bytesPerGb = 1024 ** 3;

export interface ClusterServiceParts extends ClusterAttentionParts {
  readonly store: Store;
  readonly cards: CardStore;
}

export type ClusterService = ReturnType<typeof createClusterService>;

/** Clusters: connected ones with their state, and ones that are only described, for planning. */
export function createClusterService(parts: ClusterServiceParts) {
  const { store, fleet, cards } = parts;
  /** The inputs of the running plan: the defaults for another plan. */
  function asRunning(planId: string | null): ClusterSummary["suggested"] {
    const inputs = planId === null ? undefined : store.plans.get(planId)?.inputs;
    if (inputs === undefined || inputs.objective.qualityFloor === null) return null;
    const { id: workloadId, requestsPerSecond } = inputs.workload;
    return { workloadId, requestsPerSecond, qualityFloor: inputs.objective.qualityFloor };
  }

  /** Health of a cluster that the studio does not watch. */
  function unwatched(id: string): ClusterSummary["health"] {
    const problem = fleet.problem(id);
    return problem === null ? { state: "not-connected", reason: "Described for planning only." } : { state: "down", reason: problem };
  }

  function summary(row: ClusterRow): ClusterSummary {
    const { id, spec, runningPlanId, runningSince, suggested } = row;
    const cluster = fleet.get(id);
    const emulated = cluster?.connector.emulated ?? false;
    const seen = cluster?.seen().answer;
    return {
      spec,
      runningPlanId,
      runningSince,
      suggested:
        [asRunning(runningPlanId), suggested].find((each) => each !== null && store.workloads.summary(each.workloadId) !== null) ?? null,
      health: cluster?.health() ?? unwatched(id),
      attention: clusterAttention(row, parts),
      gatewayUrl: cluster?.gatewayUrl ?? null,
      topology: spec.kind === "endpoints" || (seen?.ok && seen.value.topology === "given") ? "given" : "planned",
      panic: cluster?.panic() ?? null,
      emulated,
      emulatedAsPlanned: emulated && cluster?.deviates() === false,
      timeScale: cluster?.timeScale() ?? 1,
    };
  }

  return {
    list: (): readonly ClusterSummary[] => store.clusters.list().map(summary),
    describe({ name, rows }: ClusterDescription, actor: Actor): Outcome<{ readonly id: string }> {
      const { gpus } = cards.read().catalogue;
      const stranger = rows.find(({ gpu }) => cardOf(gpus, gpu) === undefined);
      if (stranger !== undefined) {
        return { ok: false, message: `There is no card of a GPU "${stranger.gpu}"; known are ${Object.keys(gpus).join(", ")}.` };
      }
      const taken = store.clusters.list().some((row) => row.spec.name === name);
      if (taken) return { ok: false, message: `There is a cluster "${name}" already: give another name.` };
      const id = randomUUID();
      const at = new Date().toISOString();
      const detail = rows.map(({ nodes, gpusPerNode, gpu }) => `${nodes} x ${gpusPerNode} ${gpu}`).join(", ");
      store.atomically(() => {
        store.clusters.insert({ id, name, kind: "described", ...hardwareOf(rows) }, at);
        store.audit.add({
          at,
          actor,
          action: "describe cluster",
          subject: name,
          detail,
          objectKind: "cluster",
          objectId: id,
          clusterId: id,
        });
      });
      return { ok: true, id };
    },
    gpus: (): readonly GpuChoice[] =>
      Object.values(cards.read().catalogue.gpus).map((card) => ({
        id: card.id,
        name: card.name,
        memoryGb: Math.round(card.memoryBytes / bytesPerGb),
        usdPerGpuHour: card.usdPerGpuHour,
      })),
  };
}

/** Nodes and prices in the planner's form: the first row's GPU type is the cluster's own, others are stored at their nodes. */
function hardwareOf(rows: ClusterDescription["rows"]): Omit<ClusterSpec, "id" | "name" | "kind"> {
  const { gpu = "", usdPerGpuHour = 0 } = rows[0] ?? {};
  const nodes = rows
    .flatMap((row) => Array.from({ length: row.nodes }, () => ({ gpus: row.gpusPerNode, ...(row.gpu === gpu ? {} : { gpu: row.gpu }) })))
    .map((node, index) => ({ name: `node${index + 1}`, ...node }));
  const others = rows.filter((row) => row.gpu !== gpu).map((row) => [row.gpu, row.usdPerGpuHour] as const);
  return { gpu, nodes, usdPerGpuHour, ...(others.length === 0 ? {} : { otherUsdPerGpuHour: Object.fromEntries(others) }) };
}
