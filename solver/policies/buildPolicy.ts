import type { PolicyDocument } from "../plan/plan";
import { cascadeRoute } from "./cascadeRoute";
import { composePolicy } from "./composePolicy";
import { fcfsOrder } from "./fcfsOrder";
import { leastLoadPlace } from "./leastLoadPlace";
import type { Policy } from "./policy";
import type { Order, Place } from "./policyParts";
import { policyRefusal } from "./policyRefusal";
import { roundRobinPlace } from "./roundRobinPlace";

const orders: { readonly [kind in PolicyDocument["order"]["kind"]]: () => Order } = { fcfs: () => fcfsOrder };

const places: { readonly [kind in PolicyDocument["place"]["kind"]]: () => Place } = {
  "round-robin": roundRobinPlace,
  "least-load": () => leastLoadPlace,
};

/**
 * The policy a plan names, with state of its own, for the simulator and the gateway alike. Throws with the reason when the
 * document makes no sense; ask `policyRefusal` first where a document comes from outside.
 */
export function buildPolicy(document: PolicyDocument): Policy {
  const refusal = policyRefusal(document);
  if (refusal !== null) throw new Error(refusal);
  return composePolicy({ route: cascadeRoute(document), order: orders[document.order.kind](), place: places[document.place.kind]() });
}
