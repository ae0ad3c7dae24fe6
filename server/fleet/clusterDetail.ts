import type { Observation } from "@/server/clusters/connector/connector";
import { placeText, targetEngines } from "@/server/clusters/steps/targetEngines";
import { trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import type { Attention, ClusterDetail, ClusterDrift, ClusterEngine, LiveFrame } from "@/server/contracts/studio";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Plan } from "@/solver/plan/plan";
import { absentNames, isSilent } from "./attention";
import { connectionText } from "./connectionText";
import type { ConnectedCluster } from "./fleet";
import { usedByNode } from "./observationFindings";

export interface DetailParts {
  readonly row: ClusterRow;
  /** null: its connection cannot be used. */
  readonly cluster: Pick<ConnectedCluster, "seen" | "collector" | "gatewayUrl" | "gatewayAdminUrl"> | null;
  /** In force; null: none. */
  readonly plan: Plan | null;
  readonly attention: readonly Attention[];
  readonly drift: ClusterDrift | null;
}

/** All data of a connected cluster, combined from its last observation. */
export function clusterDetail({ row, cluster, plan, attention, drift }: DetailParts): ClusterDetail {
  const { atMs = null, answer = null } = cluster?.seen() ?? {};
  const found = answer?.ok === true ? answer.value : null;
  const frame = cluster?.collector()?.frames().at(-1) ?? null;
  const runBy = row.gateway?.runBy ?? "studio";
  const used = found === null ? new Map<string, number>() : usedByNode(found);
  return {
    clusterId: row.id,
    connectionText: row.connection === null ? null : connectionText(row.connection),
    gateway: { url: cluster?.gatewayUrl ?? "", adminUrl: cluster?.gatewayAdminUrl ?? "", runBy },
    topology: row.spec.kind === "endpoints" ? "given" : "planned",
    observedAt: atMs === null ? null : new Date(atMs).toISOString(),
    nodes: (found?.nodes ?? []).map(({ name, gpus, gpu, othersGpus = 0, closed = null }) => ({
      ...{ name, gpu: gpu ?? found?.gpu ?? row.spec.gpu, gpus, used: used.get(name) ?? 0, othersUse: othersGpus, closed },
    })),
    engines: found === null ? [] : [...found.engines.map((engine) => standing(engine, found, frame)), ...missing(found, plan)],
    judges: judgesOf(found, row.spec.kind),
    notes: found?.notes ?? [],
    attention,
    drift,
  };
}

/** In addition to the emulated judge of the embedded cluster there is a trusted judge that knows the labels. */
function judgesOf(found: Observation | null, kind: ClusterRow["spec"]["kind"]): readonly string[] {
  if (!found?.judge) return [];
  return kind === "embedded" ? [found.judge.model, trustedJudgeModel] : [found.judge.model];
}

function standing(engine: Observation["engines"][number], { routing, topology }: Observation, frame: LiveFrame | null): ClusterEngine {
  const { id, model, url, gpu, tp, pp, stopping, access } = engine;
  const seen = frame?.engines.find((one) => one.id === id);
  const isActive = routing.active.includes(id);
  // An engine that Weir starts gets no requests while it loads, and does not answer meanwhile.
  const isMissed = (isActive || topology === "given") && seen !== undefined && isSilent(seen);
  const routed = isMissed ? "silent" : isActive ? "serving" : routing.cordoned.includes(id) ? "draining" : "not routed";
  return {
    ...{ id, model, served: access?.servedName ?? model, url, gpu, tp, pp },
    ...{ place: placeText(engine), state: stopping ? "stopping" : routed },
    ...{ engine: seen?.engine ?? null, absent: seen === undefined ? [] : absentNames(seen) },
  };
}

/** Engines that should get requests and do not exist, with their data if the plan in force contains it. */
function missing({ engines, routing }: Observation, plan: Plan | null): readonly ClusterEngine[] {
  const orders = plan === null ? [] : targetEngines(plan);
  return orders
    .filter(({ id }) => routing.active.includes(id) && engines.every((engine) => engine.id !== id))
    .map((order) => {
      const { id, model, gpu, tp, pp } = order;
      return { id, model, served: model, gpu, tp, pp, url: "", place: placeText(order), state: "missing", engine: null, absent: [] };
    });
}
