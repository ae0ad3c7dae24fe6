import { rollOutOf } from "@/server/clusters/apply/rollOutOf";
import type { Connector } from "@/server/clusters/connector/connector";
import { planSteps } from "@/server/clusters/steps/planSteps";
import { rollOutDip } from "@/server/clusters/steps/rollOutDip";
import type { RollOutDip } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { type ServingFigures, servingFiguresOf } from "@/solver/cascade/whatIf/servingFigures";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

export interface Traffic {
  readonly workload: Workload;
  /** Per engine second. */
  readonly requestsPerSecond: number;
}

const simulatorOf = (traffic: Traffic) => servingFiguresOf({ ...traffic, cards: catalogueOf(noUserCards), profile: vllmProfile });
const policyOf = ({ policy }: Plan): CascadePolicy => {
  if (policy.kind !== "cascade") throw new Error(`Only cascades are simulated, not ${policy.kind}.`);
  return policy;
};

/** The rate that a plan sustains and the latencies under it, by the simulation that plans are made with. */
export function figuresOf(plan: Plan, traffic: Traffic): ServingFigures {
  const engines = plan.deployment.flatMap(({ model, gpu, replicas }) =>
    replicas.flatMap((group) => {
      const { tp, pp, count } = group;
      return Array.from({ length: count }, () => ({ model, gpu, tp, pp, maxInFlight: inFlightLimit(group) }));
    }),
  );
  return simulatorOf(traffic)({ policy: policyOf(plan), engines });
}

interface Change {
  readonly connector: Connector;
  readonly running: Plan;
  readonly target: Plan;
  readonly timeScale: number;
  readonly applications: readonly StoredApplication[];
}

/** The operator's preview before a plan is approved: requests' latencies while it is applied. */
export async function dipOf({ connector, running, target, timeScale, applications }: Change, traffic: Traffic): Promise<RollOutDip> {
  const observed = await connector.observe();
  if (!observed.ok) throw new Error(observed.message);
  const rollOut = rollOutOf(observed.value, target, connector.emulated);
  const simulate = simulatorOf(traffic);
  const { requestsPerSecond } = traffic;
  const answer = await rollOutDip({
    ...{ rollOut, steps: planSteps(rollOut), running, target, applications, timeScale },
    rate: { requestsPerSecond, basis: "as loaded" },
    serve: async (_, servings) => ({ ok: true, figures: servings.map(simulate) }),
  });
  if (!answer.ok) throw new Error(answer.message);
  return answer.dip;
}
