import { type PlaceDocument, type PolicyDocument, type SinglesPolicy, singlesPolicyOf } from "../plan/policySchema";
import type { Policy } from "./core/policy";
import type { Place, Route } from "./core/policyParts";
import { jointPolicy } from "./jointPolicy";
import { orderOf } from "./orders/orderOf";
import { affinityPlace } from "./places/affinityPlace";
import { leastLoadPlace } from "./places/leastLoadPlace";
import { lowestKvPlace } from "./places/lowestKvPlace";
import { prefixPlace } from "./places/prefixPlace";
import { roundRobinPlace } from "./places/roundRobinPlace";
import { timeSlotsPlace } from "./places/timeSlotsPlace";
import { policyRefusal } from "./policyRefusal";
import { balancedRoute } from "./routes/balancedRoute";
import { cascadeRoute } from "./routes/cascadeRoute";
import { fixedRoute } from "./routes/fixedRoute";
import { slackRoute } from "./routes/slackRoute";

/**
 * The policy that a plan specifies, with its own state, for both the simulator and the gateway. Throws with the reason when the
 * document is invalid; call `policyRefusal` first where a document comes from outside.
 */
export function buildPolicy(document: PolicyDocument): Policy {
  const refusal = policyRefusal(document);
  if (refusal !== null) throw new Error(refusal);
  const parts = { order: orderOf(document.order), place: placeOf(document.place) };
  if (document.kind !== "just-in-time") return jointPolicy({ route: routeOf(document), ...parts });
  const singles = singlesPolicyOf(document);
  return jointPolicy({ route: singles && routeOf(singles), choice: document, ...parts });
}

function routeOf(document: SinglesPolicy): Route {
  switch (document.kind) {
    case "cascade":
      return cascadeRoute(document);
    case "fixed":
      return fixedRoute(document);
    case "slack":
      return slackRoute(document);
    case "balanced":
      return balancedRoute(document);
  }
}

const places: { readonly [kind in PlaceDocument["kind"]]: () => Place } = {
  "round-robin": roundRobinPlace,
  "least-load": () => leastLoadPlace,
  "lowest-kv": lowestKvPlace,
  "time-slots": timeSlotsPlace,
  prefix: prefixPlace,
};

function placeOf({ kind, affinity }: PlaceDocument): Place {
  const place = places[kind]();
  return affinity === undefined ? place : affinityPlace(place, affinity);
}
