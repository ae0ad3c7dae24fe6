import type { Route } from "../core/policyParts";
import { startAtFirst } from "./directStart";

/** Every request to one model, whose every answer is accepted. */
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
