import type { PolicyChoice } from "@/solver/plan/planSlack";
import type { PlanView } from "./planCodec";
import type { RoutingChoice } from "./routingKey";

/** Whether a kind of policies includes cascades of so many stages. */
export function asksFor(policy: PolicyChoice, stages: number): boolean {
  switch (policy) {
    case "any":
    case "cascade":
      return true;
    case "one-model":
      return stages === 1;
    case "slack":
    case "cascade-routing":
      return false;
  }
}

/** The change to the view that plans a routing by hand: also the kind of policy, where that does not include the routing. */
export const routingChange = (routing: RoutingChoice, policy: PolicyChoice): Partial<PlanView> => ({
  fixed: routing,
  ...(!asksFor(policy, routing.models.length) && { policy: "any", tau: null }),
});
