import type { Outcome } from "@/server/contracts/studio";
import type { JustInTimeRequest } from "@/server/contracts/studio/declaredWorkflows";
import { justInTimeRouting } from "@/server/planning/workflows/justInTimeRouting";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { reroutePlan } from "./reroutePlan";

/**
 * A plan on the engines of another that runs declared workflows just in time, as they are kept now: the plan has its own copy of them. Its figures
 * stay those of the other, and its notes say so.
 */
export function justInTimePlan(store: Store, base: Plan, { workflows, width, name }: JustInTimeRequest): Outcome<{ readonly plan: Plan }> {
  const { id, name: workloadName } = base.inputs.workload;
  const workload = loadWorkload(store, id);
  if (workload === null)
    return {
      ok: false,
      message: `The plan was made from ${workloadName}, which is not kept any more, so request lengths are unknown.`,
    };
  const named: JustInTimePolicy["workflows"] = [];
  for (const { name: workflowName, predictor } of workflows) {
    const found = store.declaredWorkflows.find(workflowName);
    if (found === null) return { ok: false, message: `There is no declared workflow ${workflowName}.` };
    named.push({ workflow: found.document, ...(predictor === null ? {} : { predictor }) });
  }
  const routed = justInTimeRouting(base, workload, { workflows: named, selection: { kind: "beam", width } });
  return routed.ok ? reroutePlan(base, { policy: routed.policy, name }, routed.notes) : routed;
}
