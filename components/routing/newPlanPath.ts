import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { planNowPath } from "../plan/address/planNowPath";
import type { SlackControl, SlackPoint } from "./prepareSlack";

/** With fewer requests there is no reliable rate. */
const LEAST_REQUESTS = 50;

/** Requests per engine second to plan for: as measured, to two digits, else as planned. */
export function rateToPlan({ measured, recent }: Pick<LiveFrame, "measured" | "recent">, { inputs }: Pick<Plan, "inputs">): number {
  if (recent.requests === 0 || measured.requests < LEAST_REQUESTS) return inputs.workload.requestsPerSecond;
  return Number((measured.requests / measured.windowSeconds).toPrecision(2));
}

/** Address of the Plan page with the request of a plan, but for another slack and the present rate. */
export function newPlanPath(
  plan: Pick<Plan, "inputs">,
  requestsPerSecond: number,
  { kind, value }: Pick<SlackControl, "kind"> & Pick<SlackPoint, "value">,
): string {
  const [path, query] = planNowPath(plan, { workloadId: plan.inputs.workload.id, requestsPerSecond, basis: [] }).split("?");
  const params = new URLSearchParams(query);
  if (kind === "tau") {
    params.set("policy", "slack");
    params.set("tau", String(Number(value.toFixed(2))));
  } else {
    params.set("policy", "cascade");
    params.set("slack", String(Math.min(100, Math.round(100 * value))));
    // For the highest quality within a latency slack has no meaning.
    if (params.get("objective") === "quality-under-latency") params.delete("objective");
  }
  return `${path}?${params}`;
}
