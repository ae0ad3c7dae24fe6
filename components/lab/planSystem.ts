import type { LabReplicas, LabSystem } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { confidencePredictorOf, singlesPolicyOf } from "@/solver/plan/policySchema";
import { shortHash } from "../ui/format";

/** The engines of a saved plan in the form of a race. */
const planReplicas = ({ deployment }: Pick<Plan, "deployment">): LabReplicas[] =>
  deployment.flatMap(({ model, precision, gpu, replicas }) =>
    replicas.map((group) => ({ model, precision, gpu: group.gpu ?? gpu, tp: group.tp, pp: group.pp, count: group.count })),
  );

/**
 * A saved plan as a system: its policy on its own engines, with the predictors it names. A cascade of one model becomes that model; one of
 * more stays a cascade.
 */
export function planSystem(plan: Pick<Plan, "id" | "deployment" | "policy">): LabSystem {
  const { policy } = plan;
  const [only, ...more] = policy.kind === "cascade" ? policy.stages : [];
  const { order, place, learnt } = policy;
  const confidence = confidencePredictorOf(policy);
  const route = singlesPolicyOf(policy)?.kind;
  const byLength = order.kind === "sjf" || order.kind === "stjf" || route === "slack";
  const weighs = policy.kind === "just-in-time" && policy.selection.kind === "worth" && learnt?.lengths !== undefined;
  return {
    name: `plan ${shortHash(plan.id)}`,
    policy: only !== undefined && more.length === 0 ? { kind: "fixed", model: only.model, order, place } : policy,
    // Without a predictor a live order also uses the input length.
    lengths: !byLength && !weighs ? "none" : learnt?.lengths === undefined ? "input" : { artefact: learnt.lengths },
    confidence: confidence !== undefined && (route === "slack" || route === "cascade") ? { artefact: confidence } : "none",
    // A plan without predictors knows only the configuration of the largest models, and has no choice.
    ...(policy.kind === "just-in-time" &&
    policy.selection.kind !== "fixed" &&
    policy.workflows.some(({ predictor }) => predictor !== undefined)
      ? { configurations: "named" }
      : {}),
    replicas: planReplicas(plan),
  };
}
