import { plannedLimits, targetEngines } from "@/server/clusters/steps/targetEngines";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { Planning } from "@/server/planning/planningService";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Plan } from "@/solver/plan/plan";
import type { PlanService } from "../base/planServices";
import { rateNow } from "./rateNow";

interface RemainingCascadeParts {
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector"> | null;
  readonly planning: Pick<Planning, "serve">;
  /** A plan that is kept, or was solved lately. */
  readonly planOf: (planId: string) => Plan | null;
}

/** Predicts a cascade without the stages that are lost: the plan's policy simulated on the engines that are left, as plans are. */
export function createRemainingCascade({ clusterOf, planning, planOf }: RemainingCascadeParts): Pick<PlanService, "remaining"> {
  return {
    async remaining({ planId, clusterId, lost, lowerMayAnswer }, signal) {
      const plan = planOf(planId);
      if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
      const collector = clusterOf(clusterId)?.collector() ?? null;
      const routing = collector?.routing() ?? null;
      // Its thresholds may have been turned since the plan was put into force.
      const policy = routing?.planId === planId ? routing.policy : plan.policy;
      if (policy.kind !== "cascade") return { ok: false, message: `Only cascades are simulated, not ${policy.kind}.` };
      const limits = new Map(plannedLimits(plan));
      const engines = targetEngines(plan).map(({ id, model, gpu, tp, pp }) => {
        return { model, gpu, tp, pp, maxInFlight: limits.get(id) ?? inFlightLimit({}) };
      });
      const left = engines.filter(({ model }) => !lost.includes(model));
      const { requestsPerSecond, basis } = rateNow(collector, plan);
      const servings = [
        { policy, engines },
        { policy, engines: left, lost: { lowerMayAnswer } },
      ];
      const served = await planning.serve(plan, { servings, requestsPerSecond }, signal);
      if (!served.ok) return served;
      const [whole, remaining] = served.figures;
      if (whole === undefined || remaining === undefined) throw new Error("The planner left figures out.");
      return { ok: true, remaining: { requestsPerSecond, basis, whole, remaining } };
    },
  };
}
