"use client";

import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { PlannedGateKind } from "@/solver/plan/planGates";
import { useTRPC } from "../api/trpc";
import { ProposalCard } from "../proposals/ProposalCard";
import { RealModelsPanel } from "../realSetup/RealModelsPanel";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useModelIdentities } from "../ui/useModelIdentities";
import { useUrlView } from "../url/useUrlView";
import type { FrontierView } from "./address/frontierCodec";
import { type DraftKnobs, knobsOf, type PlanDefaults, planDefaults } from "./address/knobs";
import { handedBack, ownGateOf, withGate } from "./address/ownGate";
import { type PlanView, planCodec } from "./address/planCodec";
import type { RoutingChoice } from "./address/routingKey";
import { useStableValue } from "./address/useStableValue";
import { asSituation, estimateKnobs } from "./constraints/prepareConstraints";
import { FirstRunCard } from "./FirstRunCard";
import { FrontierPanel } from "./frontier/FrontierPanel";
import { useRunningPlan } from "./frontier/useRunningPlan";
import { PlanJudge } from "./PlanJudge";
import { usePlanning } from "./planning/usePlanning";
import { PlanPanel } from "./result/PlanPanel";
import { SituationBar } from "./SituationBar";
import { KnobPanel } from "./settings/KnobPanel";
import { useSettingsHistory } from "./settings/useSettingsHistory";

/** The frontier's part of a view. It keeps its identity while its content is equal, because every change of the address is parsed again. */
function useFrontierView({ xAxis, yAxis, brush, baselines, pins }: FrontierView): FrontierView {
  return useStableValue({ xAxis, yAxis, brush, baselines, pins });
}

const NO_DRAFT: DraftKnobs = {};

/** The cascade of a held thumb, with the gate that its thresholds are scores of; null: the view's. */
interface Held {
  readonly routing: RoutingChoice;
  readonly gate: PlannedGateKind | null;
}

function PlanDesk(props: {
  readonly cluster: ClusterSummary;
  readonly workloads: readonly WorkloadSummary[];
  readonly defaults: PlanDefaults;
}) {
  const { cluster, workloads, defaults } = props;
  const [view, write] = useUrlView(planCodec);
  // The value of a slider while its thumb is held. It overrides the address, which takes the value when the thumb is released.
  const [draft, setDraft] = useState(NO_DRAFT);
  const [held, setHeld] = useState<Held | null>(null);
  /** The gate that was named for thresholds set by hand; null: the operator chose the view's. */
  const [named, setNamed] = useState<PlannedGateKind | null>(null);
  const [turning, setTurning] = useState(false);
  const { tau: draftTau, ...draftKnobs } = draft;
  const knobs = useStableValue({ ...knobsOf(view, defaults), ...draftKnobs });
  const tau = draftTau ?? view.tau;
  const workloadId = workloads.find((each) => each.id === view.workload)?.id ?? defaults.workload;
  const requestsPerSecond = view.requestsPerSecond ?? defaults.requestsPerSecond;
  const clusterId = cluster.spec.id;
  const { constraints, judge, judgeSeconds, router } = view;
  const gateChoice = held?.gate ?? view.gateChoice;
  const asked = useStableValue({ constraints, judge, judgeSeconds, router });
  const situation = useMemo(
    () => ({ workloadId, clusterId, requestsPerSecond, ...asSituation(asked), ...(gateChoice !== "any" && { gateChoice }) }),
    [workloadId, clusterId, requestsPerSecond, asked, gateChoice],
  );
  const settled = useStableValue(view.fixed);
  const fixed = useStableValue(held?.routing ?? view.fixed);
  const frontierView = useFrontierView(view);
  const planned = useMemo(
    () => ({ asked: knobs, estimated: estimateKnobs(knobs, asked.constraints, cluster.spec) }),
    [knobs, asked, cluster.spec],
  );
  const searchesRate = view.kind === "highest-rate";
  const planning = usePlanning(situation, planned, { policy: view.policy, tau, searchesRate }, { fixed, settled, turning });
  const models = useStableValue((workloads.find((each) => each.id === workloadId)?.models ?? []).map((each) => each.model));
  // A judge that runs as an engine here has GPUs too; it is last, so that it takes no model's hue.
  const identities = useModelIdentities(judge === null ? models : [...models, judge.model]);
  const running = useRunningPlan(cluster.runningPlanId, knobs, { workloadId, requestsPerSecond: planning.requestsPerSecond });

  const change = useCallback(
    (next: Partial<PlanView>, how: "push" | "replace") => {
      setDraft(NO_DRAFT);
      setHeld(null);
      const written = handedBack(next, { gateChoice: view.gateChoice, named });
      if (written.gateChoice !== undefined) setNamed(null);
      write(written, how);
    },
    [write, view.gateChoice, named],
  );
  const { exact } = planning;
  const solvedGate = exact.current ? ownGateOf(exact.plan, view.gateChoice) : null;
  // While a thumb is held, the plan is already that of its gate.
  const ownGate = held === null ? solvedGate : held.gate;
  /** Thresholds of the exact plan, and of its baselines, stay those of its own gate. */
  const changeOfPlan = useCallback(
    (next: Partial<PlanView>, how: "push" | "replace") => {
      const gated = withGate(next, ownGate);
      change(gated, how);
      if (gated !== next) setNamed(ownGate);
    },
    [change, ownGate],
  );
  const hold = useCallback(
    (routing: RoutingChoice) => setHeld((before) => ({ routing, gate: before === null ? solvedGate : before.gate })),
    [solvedGate],
  );
  const steps = useSettingsHistory(view, change);
  const approach = useCallback(() => setTurning(true), []);
  return (
    <>
      <ProposalCard clusterId={clusterId} />
      <SituationBar
        workloads={workloads}
        workloadId={workloadId}
        requestsPerSecond={requestsPerSecond}
        searchesRate={searchesRate}
        onWorkload={(workload) => change({ workload, fixed: null, pins: [], brush: null }, "push")}
        onRate={(rate) => change({ requestsPerSecond: rate }, "replace")}
      />
      {judge === null && (
        <PlanJudge clusterId={clusterId} entered={judgeSeconds} onEnter={(seconds) => change({ judgeSeconds: seconds }, "replace")} />
      )}
      {cluster.emulated && cluster.runningPlanId === null && (
        <FirstRunCard cluster={cluster} plan={planning.exact.current && fixed === null ? planning.exact.plan : null} />
      )}
      {cluster.runningPlanId === null && <RealModelsPanel on={cluster} />}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_340px]">
        <FrontierPanel
          planning={planning}
          identities={identities}
          running={running}
          mixed={gpuTypes(cluster.spec).length > 1}
          policy={view.policy}
          constraints={constraints}
          view={frontierView}
          fixed={fixed}
          onDraft={setDraft}
          onChange={change}
          onChangeOfPlan={changeOfPlan}
        />
        <KnobPanel
          view={view}
          knobs={knobs}
          tau={tau}
          defaults={defaults}
          cluster={cluster}
          workloadId={workloadId}
          models={models}
          identities={identities}
          planning={planning}
          steps={steps}
          onDraft={setDraft}
          onChange={change}
        />
      </div>
      <PlanPanel
        planning={planning}
        cluster={cluster}
        models={models}
        view={view}
        fixed={fixed}
        identities={identities}
        onHold={hold}
        onApproach={approach}
        onChange={changeOfPlan}
      />
    </>
  );
}

/** Plan: the latency-quality frontier of this workload on this cluster, and the plan for the current knobs. */
export function PlanScreen() {
  const trpc = useTRPC();
  const clusters = useClusters();
  const cluster = useCurrentCluster();
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const defaults = useMemo(
    () => (cluster === null || workloads.data === undefined ? null : planDefaults(cluster, workloads.data)),
    [cluster, workloads.data],
  );
  const status = queryStatus(clusters.data === undefined ? clusters : workloads, {
    what: "Reading clusters and workloads",
    empty: defaults === null && {
      kind: "empty",
      title: "Nothing to plan for yet",
      text: "A plan needs a workload and a cluster. Import prompts under Workloads, and describe a cluster under Clusters.",
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Plan" />
      <PanelState status={status}>
        {() => cluster !== null && defaults !== null && <PlanDesk cluster={cluster} workloads={workloads.data ?? []} defaults={defaults} />}
      </PanelState>
    </div>
  );
}
