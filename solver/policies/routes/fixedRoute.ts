import type { Route } from "../core/policyParts";
import { startAtFirst } from "./directStart";

/** Sends every request to one model and accepts every answer. */
export function fixedRoute({ model }: { readonly model: string }): Route {
  return {
    kind: "fixed",
    needs: [],
    models: [model],
    start: startAtFirst,
    judges: () => false,
    verdict: () => ({ kind: "accept", reason: "only-model" }),
  };
}
