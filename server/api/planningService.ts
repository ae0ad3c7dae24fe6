import type { CardShelf } from "@/server/cards/cardShelf";
import type { Outcome } from "@/server/contracts/studio";
import type { Planner } from "@/server/planning/planner";
import type { PlanningSituation } from "@/server/planning/planningRequest";
import type { Store } from "@/server/store/store";
import { cardOf } from "@/solver/hardware/catalogue";
import type { Workload } from "@/solver/workload/workload";
import { profileInUse } from "./calibrationService";
import type { ExploreRequest } from "./inputs";
import type { PlanService } from "./services";
import { loadWorkload } from "./workloadService";

/** Workloads kept unpacked between the requests of a turning knob; each is some megabytes. */
const unpackedWorkloads = 3;

/** The planner over what the store holds: ids in, explorations and plans out. */
export function createPlanningService(store: Store, planner: Planner, cards: CardShelf): Pick<PlanService, "explore" | "solve"> {
  const unpacked = new Map<string, Workload>();

  function workloadOf(id: string): Workload | null {
    const workload = unpacked.get(id) ?? loadWorkload(store, id);
    if (workload === null) return null;
    unpacked.delete(id);
    unpacked.set(id, workload);
    const oldest = unpacked.keys().next().value;
    if (unpacked.size > unpackedWorkloads && oldest !== undefined) unpacked.delete(oldest);
    return workload;
  }

  function situation(request: ExploreRequest): Outcome<{ readonly situation: PlanningSituation }> {
    const { workloadId, clusterId, requestsPerSecond } = request;
    const cluster = store.clusters.get(clusterId)?.spec;
    if (cluster === undefined) return { ok: false, message: `There is no cluster ${clusterId}.` };
    const workload = store.workloads.summary(workloadId) === null ? null : workloadOf(workloadId);
    if (workload === null) return { ok: false, message: `There is no workload ${workloadId}.` };
    const { userCards, catalogue, problem } = cards.read();
    const missing =
      workload.outcomes.models.find(({ model }) => cardOf(catalogue.models, model) === undefined)?.model ??
      (cardOf(catalogue.gpus, cluster.gpu) === undefined ? cluster.gpu : undefined);
    if (missing !== undefined) return { ok: false, message: `There is no card of ${missing}. ${problem ?? "Add it under Cards."}` };
    const engineProfile = profileInUse(store);
    return { ok: true, situation: { workload, workloadId, cluster, userCards, engineProfile, requestsPerSecond } };
  }

  return {
    async explore(request, signal) {
      const found = situation(request);
      return found.ok ? planner.explore(found.situation, signal) : found;
    },
    async solve({ objective, fixed, ...request }, signal) {
      const found = situation(request);
      if (!found.ok) return { outcome: "infeasible", reason: found.message, bestQuality: null, bestLatencySeconds: null };
      return planner.solve({ ...found.situation, objective, fixed }, signal);
    },
  };
}
