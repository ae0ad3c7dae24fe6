"use client";

import { memo } from "react";
import { prepareCascadeFlow } from "@/components/charts/prepareCascadeFlow";
import { prepareGpuMap } from "@/components/charts/prepareGpuMap";
import { Button } from "@/components/ui/Button";
import { shortHash } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Notes } from "@/components/ui/Notes";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import type { ClusterSummary } from "@/server/contracts/studio";
import { cascadeRoutingSays } from "@/solver/nextModel/cascadeRoutingDocument";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { isByThresholds } from "@/solver/plan/policySchema";
import type { PlanView } from "../address/planCodec";
import { routingChange } from "../address/policyView";
import { formatRouting, type RoutingChoice } from "../address/routingKey";
import { routingOfPlan } from "../address/routingOf";
import { CascadeComposer } from "../choose/CascadeComposer";
import { choiceProblem, stageRules } from "../choose/choiceProblem";
import { heldFigures } from "../choose/compareChoice";
import { type ActiveConstraint, activeConstraints } from "../constraints/prepareConstraints";
import { JobProgress } from "../planning/JobProgress";
import type { Planning } from "../planning/usePlanning";
import { CascadeFlow } from "./CascadeFlow";
import { DispatchFlow } from "./DispatchFlow";
import { GateTable } from "./GateTable";
import { GpuMap } from "./GpuMap";
import { NoPlan } from "./NoPlan";
import { PlanActions } from "./PlanActions";
import { PlanDiffPanel } from "./PlanDiffPanel";
import { PlanFigures } from "./PlanFigures";
import { PolicyTable } from "./PolicyTable";
import { infeasibleOf, statusOf } from "./planStatus";
import { type DispatchSummary, estimatedDispatch, exactDispatch } from "./prepareDispatch";
import { assumptions, estimatedFigures, estimateRateText, exactFigures } from "./preparePlanFigures";
import { slackBoughtText } from "./preparePolicies";
import { StageTable } from "./StageTable";
import { WhatIfPanel } from "./WhatIfPanel";
import { WhyPanel } from "./WhyPanel";

type PlanChange = (change: Partial<PlanView>, how: "push" | "replace") => void;

/** Slack dispatch where that is what is shown; null for a cascade. */
function shownDispatch(
  { exact, dispatch, recommendation }: Planning,
  { estimate, fixed }: { readonly estimate: boolean; readonly fixed: RoutingChoice | null },
): DispatchSummary | null {
  if (!estimate) return exact.plan?.policy.kind === "slack" ? exactDispatch({ ...exact.plan, policy: exact.plan.policy }) : null;
  const best = fixed === null ? (recommendation?.best ?? null) : null;
  return best?.kind === "slack" && dispatch.exploration !== null ? estimatedDispatch(dispatch.exploration, best.point) : null;
}

function Block({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-2 border-t pt-4">
      <h3 className="text-sm font-semibold">{title}</h3>
      {children}
    </div>
  );
}

/** Every constraint, each with a button that drops it. */
function WaysOut({ active, onChange }: { readonly active: readonly ActiveConstraint[]; readonly onChange: PlanChange }) {
  return (
    <ul aria-label="Constraints you can drop" className="flex list-none flex-wrap justify-center gap-2">
      {active.map(({ key, says, without }) => (
        <li key={key}>
          <Button onClick={() => onChange(without, "push")}>Drop: {says}</Button>
        </li>
      ))}
    </ul>
  );
}

/** The constraints that an estimate ignores. */
function LeftOut({ view }: { readonly view: PlanView }) {
  const unknown = activeConstraints(view).filter((constraint) => !constraint.inEstimate);
  if (unknown.length === 0) return null;
  return (
    <p className="text-sm text-ink-3">The estimate ignores: {unknown.map(({ says }) => says).join("; ")}. The exact plan includes it.</p>
  );
}

/** The plan, recommended or for a chosen cascade: its figures, its flow, its placement, why it won and what it changes. */
export const PlanPanel = memo(function PlanPanel(props: {
  readonly planning: Planning;
  readonly cluster: ClusterSummary;
  /** Of the workload. */
  readonly models: readonly string[];
  readonly view: PlanView;
  /** The cascade chosen by hand; null: the recommended one is planned. */
  readonly fixed: RoutingChoice | null;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  /** Called while a threshold is being changed, and once before. */
  readonly onHold: (routing: RoutingChoice) => void;
  readonly onApproach: () => void;
  readonly onChange: PlanChange;
}) {
  const { planning, cluster, view, fixed, identities, onChange } = props;
  const { exact, estimate, exploration, found, recommended, searchesRate } = planning;
  const plan = exact.plan;
  const rules = exploration === null ? null : stageRules(exploration, cluster.spec, view);
  // The load of the tables' rate is no reason against a search, which finds a lower one.
  const problem = fixed === null || rules === null ? null : choiceProblem(fixed, searchesRate ? null : found, planning.knobs, rules);
  const infeasible = infeasibleOf(planning, { problem, view });
  const active = activeConstraints(view);
  const showsEstimate = !exact.current && estimate !== null;
  // Slack dispatch has no thresholds: its models and shares are shown instead of a flow.
  const slack = shownDispatch(planning, { estimate: showsEstimate, fixed });
  const routed = plan !== null && isByThresholds(plan.policy) ? routingOfPlan(plan) : null;
  const says = !showsEstimate && plan?.policy.kind === "cascade" ? cascadeRoutingSays(plan.policy) : null;
  const shown = slack !== null ? null : showsEstimate ? (fixed ?? recommended) : routed;
  const flow = showsEstimate
    ? (found?.routing.share ?? []).map((share, stage) => ({ share, startShare: found?.routing.startShare?.[stage] }))
    : (plan?.predictions.stages ?? []);
  return (
    <Panel
      title="The plan"
      aside={
        <>
          {/* The progress of a search stands beside the sliders, with its answer. */}
          {!searchesRate && <JobProgress job={exact} again="Solve" />}
          {plan !== null && exact.current && (
            <span data-testid="plan-hash" className="font-mono">
              {shortHash(plan.id)}
            </span>
          )}
          <PlanActions plan={exact.current ? plan : null} />
        </>
      }
    >
      {rules !== null && planning.atHand !== null && (
        <div className="mb-5 border-b pb-4">
          <CascadeComposer
            planning={planning}
            shown={planning.atHand}
            chosen={fixed !== null}
            isRecommended={fixed !== null && recommended !== null && formatRouting(fixed) === formatRouting(recommended)}
            problem={problem}
            models={props.models}
            rules={rules}
            held={heldFigures(planning)}
            identities={identities}
            onDraft={props.onHold}
            onChoose={(routing, how) => onChange(routing === null ? { fixed: null } : routingChange(routing, view.policy), how)}
            onApproach={props.onApproach}
          />
        </div>
      )}
      <PanelState
        status={statusOf(planning, infeasible, active.length === 0 ? null : <WaysOut active={active} onChange={props.onChange} />)}
      >
        {() =>
          infeasible !== null ? (
            <NoPlan
              title={problem === null ? (searchesRate ? "No rate keeps this" : "No plan meets this") : "This cascade cannot be planned"}
              answer={infeasible}
              view={view}
              knobs={planning.knobs}
              onChange={onChange}
            />
          ) : (
            <div className="flex flex-col gap-5">
              <Notes items={planning.notes} className="text-sm text-ink-2" />
              {showsEstimate ? (
                <>
                  <PlanFigures figures={estimatedFigures(estimate, planning.knobs.maxGpus, gpuTypes(cluster.spec).length > 1)} estimate />
                  {searchesRate && exploration !== null && (
                    <p className="text-sm text-ink-2">{estimateRateText(exploration.requestsPerSecond, plan)}</p>
                  )}
                  {fixed === null && view.policy === "cascade" && planning.choice?.binds && (
                    <p className="text-sm text-ink-2">{planning.choice.binds}</p>
                  )}
                  <LeftOut view={view} />
                </>
              ) : (
                plan !== null && (
                  <div className="flex flex-col gap-2">
                    <PlanFigures figures={exactFigures(plan)} estimate={!exact.current} />
                    {plan.solver.slack !== undefined && (
                      <p data-testid="slack-bought" className="text-sm text-ink-2">
                        {slackBoughtText(plan)}
                      </p>
                    )}
                    <p className="text-xs text-ink-3">{assumptions(plan)}</p>
                  </div>
                )
              )}
              {slack !== null && (
                <div className="border-t pt-4">
                  <DispatchFlow summary={slack} identities={identities} />
                </div>
              )}
              {says !== null && (
                <p data-testid="cascade-routing" className="border-t pt-4 text-sm text-ink-2">
                  {says}
                </p>
              )}
              {shown !== null && (
                <div className="border-t pt-4">
                  <CascadeFlow
                    stages={prepareCascadeFlow({
                      stages: shown.models.map((model, index) => ({
                        model,
                        share: flow[index]?.share ?? 0,
                        startShare: flow[index]?.startShare,
                      })),
                      thresholds: shown.thresholds,
                      identities,
                    })}
                  />
                </div>
              )}
              {plan !== null && (
                <div className={`flex flex-col gap-5 ${exact.current ? "" : "opacity-50"}`} aria-busy={!exact.current}>
                  {plan.solver.policies !== undefined && plan.solver.policies.length > 0 && (
                    <Block title="Policies compared on at most the same GPUs">
                      <PolicyTable plan={plan} />
                    </Block>
                  )}
                  {plan.solver.comparedGates !== undefined && (
                    <Block title="Gates compared at the same floor">
                      <GateTable gates={plan.solver.comparedGates} />
                    </Block>
                  )}
                  <Block title={exact.current ? "GPUs by node" : "GPUs by node, of the last exact plan"}>
                    <GpuMap nodes={prepareGpuMap({ cluster: cluster.spec, deployment: plan.deployment, identities })} />
                  </Block>
                  <Block title={plan.policy.kind === "slack" ? "Predictions per model" : "Predictions per stage"}>
                    <StageTable plan={plan} identities={identities} />
                  </Block>
                  <div className="border-t pt-4">
                    <WhyPanel
                      plan={plan}
                      chosen={fixed !== null}
                      onChoose={(routing) => onChange(routingChange(routing, view.policy), "push")}
                    />
                  </div>
                  {exact.current && isByThresholds(plan.policy) && (
                    <div className="border-t pt-4">
                      <WhatIfPanel question={exact.question} />
                    </div>
                  )}
                  <Block title="Difference from the running state">
                    <PlanDiffPanel plan={plan} clusterId={cluster.spec.id} />
                  </Block>
                </div>
              )}
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
});
