"use client";

import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Tabs } from "../ui/Tabs";
import { useUrlView } from "../url/useUrlView";
import { DeclaredTab } from "./declared/DeclaredTab";
import { type WorkflowTab, workflowsCodec, workflowTabs } from "./graph/workflowsCodec";
import { JustInTimeTab } from "./justInTime/JustInTimeTab";
import { LearntTab } from "./learnt/LearntTab";
import { MixTab } from "./mix/MixTab";

const names: Readonly<Record<WorkflowTab, string>> = {
  learnt: "Learnt",
  declared: "Declared",
  mix: "Plan for a mix",
  "just-in-time": "Just in time",
};

/** The tabs of this page: learnt and declared workflows, plans for a mix of them, and the just-in-time choice of models. */
function WorkflowTabs({ tab, onTab }: { readonly tab: WorkflowTab; readonly onTab: (tab: WorkflowTab) => void }) {
  return <Tabs label="Workflows" names={names} tabs={workflowTabs} tab={tab} onTab={onTab} />;
}

const says: Readonly<Record<WorkflowTab, string>> = {
  learnt: "Which agents call which, how long their programs still take, and who goes first.",
  declared: "Graphs of agents with the models that may run each.",
  mix: "Engines for single requests, workflows and ensembles together.",
  "just-in-time": "Which model runs each agent, decided when an engine has room for it.",
};

const tabs = { learnt: LearntTab, declared: DeclaredTab, mix: MixTab, "just-in-time": JustInTimeTab } as const;

/** Workflows: how applications use the models, the declared workflows, and the just-in-time choice of models. */
export function WorkflowsScreen() {
  const clusters = useClusters();
  const cluster = useCurrentCluster();
  const [{ tab }, write] = useUrlView(workflowsCodec);
  const Tab = tabs[tab];
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Workflows">
        <p className="text-sm text-ink-3">{says[tab]}</p>
      </PageHeader>
      <WorkflowTabs tab={tab} onTab={(next) => write({ tab: next }, "push")} />
      <PanelState status={queryStatus(clusters, { what: "Reading clusters" })}>
        {() => cluster !== null && <Tab key={cluster.spec.id} cluster={cluster} />}
      </PanelState>
    </div>
  );
}
