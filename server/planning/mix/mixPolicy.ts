import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { judgeOf } from "@/solver/cascade/explore/situation";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import type { CascadeRoute, MixGround } from "@/solver/mix/mixGround";
import type { SolvedMix } from "@/solver/mix/solveMix";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { justInTimeDocument } from "@/solver/policies/justInTime/justInTimeDocument";
import { configurationNames, configurationSpace } from "@/solver/workflow/configurationSpace";
import type { MixSituation } from "./mixSituation";
import type { MixAsked } from "./mixTask";

/** Replicas of one shape of a model. */
export interface MixedReplicas extends ShapedReplica {
  readonly model: string;
  readonly count: number;
}

/** How each class is served, by the shares of a solution. */
export interface MixRoutes {
  /** null: the mix has no single requests. */
  readonly singles: CascadeRoute | null;
  /** Workflows as the policy has them: without a predictor, each agent may run on its planned model alone. */
  readonly workflows: JustInTimePolicy["workflows"];
}

/** The routes that a solution chose. */
export function mixRoutes(asked: MixAsked, { traffic }: MixSituation, { routes }: MixGround, { shares }: SolvedMix): MixRoutes {
  const models = traffic.outcomes.models.map(({ model }) => model);
  const chosen = shares.map((own, at) => routes[at]?.[own.indexOf(Math.max(...own))]);
  const [first] = chosen;
  const singles = traffic.singles !== null && first?.kind === "cascade" ? first : null;
  const ofWorkflows = traffic.singles === null ? chosen : chosen.slice(1);
  return {
    singles,
    workflows: traffic.workflows.map(({ workflow }, at) => {
      const route = ofWorkflows[at];
      const predictor = asked.workflows[at]?.predictor;
      const document = route?.kind === "configuration" ? pinnedTo(workflow, models, route.configuration) : workflow;
      return { workflow: document, ...(predictor === undefined ? {} : { predictor }) };
    }),
  };
}

/** The workflow with each agent on its model of a configuration. */
function pinnedTo(workflow: WorkflowDocument, models: readonly string[], configuration: number): WorkflowDocument {
  const names = configurationNames(configurationSpace(workflow, models), configuration);
  return {
    ...workflow,
    agents: workflow.agents.map((agent) => (agent.sameModelAs === undefined ? { ...agent, models: [names[agent.name] ?? ""] } : agent)),
  };
}

interface PolicyParts {
  readonly situation: Pick<PlanningSituation, "judge">;
  readonly mixed: MixSituation;
  readonly ground: Pick<MixGround, "requests">;
  readonly replicas: readonly MixedReplicas[];
  readonly routes: MixRoutes;
  readonly solved: Pick<SolvedMix, "models">;
  readonly selection: MixAsked["selection"];
}

/**
 * The policy that chooses models just in time over some engines and serves single requests by the routes' cascade. Agents may run on the
 * models that have engines.
 *
 * @throws RangeError when a replica has room for none of the mix's requests.
 */
export function mixPolicy({ situation, mixed, ground, replicas, routes, solved, selection }: PolicyParts): JustInTimePolicy {
  const table = mixed.traffic.outcomes.models.map(({ model }) => model);
  const replicasOf = (model: string): number => replicas.reduce((sum, own) => (own.model === model ? sum + own.count : sum), 0);
  const deployed = table.filter((model) => replicasOf(model) > 0);
  const policy = justInTimeDocument({
    models: deployed.map((model) => {
      const at = table.indexOf(model);
      return {
        ...{ model, cost: mixed.costs[at] ?? 1, replica: replicas.filter((own) => own.model === model) },
        requests: ground.requests[at] ?? { inputTokens: [], outputTokens: [], seed: mixed.traffic.seed },
      };
    }),
    workflows: routes.workflows.map(({ workflow, ...own }) => ({ ...own, workflow: withModels(workflow, deployed) })),
    selection,
    planned: solved.models.map(({ model, load }) => ({ model, load, replicas: replicasOf(model) })),
  });
  return routes.singles === null ? policy : { ...policy, singles: singlesOf(routes.singles, table, situation) };
}

const withModels = (workflow: WorkflowDocument, deployed: readonly string[]): WorkflowDocument => ({
  ...workflow,
  agents: workflow.agents.map((agent) =>
    agent.models === undefined ? agent : { ...agent, models: agent.models.filter((model) => deployed.includes(model)) },
  ),
});

/** One model, or a cascade whose approved thresholds are those that engines were planned for. */
function singlesOf(
  { stages, thresholds }: CascadeRoute,
  models: readonly string[],
  situation: Pick<PlanningSituation, "judge">,
): NonNullable<JustInTimePolicy["singles"]> {
  const names = stages.map((model) => models[model] ?? "");
  if (thresholds.length === 0) return { kind: "fixed", model: names[0] ?? "" };
  return {
    kind: "cascade",
    stages: names.map((model) => ({ model })),
    thresholds: [...thresholds],
    judge: judgeOf(situation),
    approvedRanges: { thresholds: thresholds.map((own) => ({ min: own, max: own })) },
  };
}
