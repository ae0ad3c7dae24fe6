"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { SelectField } from "@/components/ui/Field";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary } from "@/server/contracts/studio";
import { usePlan } from "../graph/usePlan";
import { workflowsCodec } from "../graph/workflowsCodec";
import { CapacityPanel } from "./CapacityPanel";
import { DeclaredList } from "./DeclaredList";
import { DeclaredPanel } from "./DeclaredPanel";
import { ImportDialog } from "./ImportDialog";
import { PlanDialog } from "./PlanDialog";
import { planInView, planOptions } from "./prepareDeclaredList";
import { TryPanel } from "./TryPanel";

/** Declared workflows: the list, one in detail, and the actions on it with the engines of a plan. */
export function DeclaredTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const trpc = useTRPC();
  const [view, write] = useUrlView(workflowsCodec);
  const clusterId = cluster.spec.id;
  const [removed, setRemoved] = useState<string | null>(null);
  const query = useQuery(trpc.declaredWorkflows.list.queryOptions());
  const plans = useQuery(trpc.plans.list.queryOptions({ clusterId })).data ?? [];
  const summary = planInView(plans, view.plan);
  const plan = usePlan(summary?.id ?? null).data?.plan ?? null;
  const models = useMemo(() => plan?.deployment.map(({ model }) => model) ?? null, [plan]);
  const workflows = query.data ?? [];
  const shown = workflows.find(({ document }) => document.name === view.workflow) ?? workflows[0];
  const status = queryStatus(query, {
    what: "Reading declared workflows",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No workflow is declared yet",
      text: "Import the graph of an application, as a Weir document or from DSPy or LangGraph, or start with a modelled one. Weir then chooses the model of each agent among configurations that are predicted to be accurate.",
      action: <Button onClick={() => write({ open: "import" }, "push")}>Import a workflow</Button>,
    },
  });
  return (
    <>
      <Panel
        title="Declared workflows"
        aside={
          <Button look="primary" onClick={() => write({ open: "import" }, "push")}>
            Import
          </Button>
        }
      >
        <PanelState status={status}>
          {() => (
            <div className="flex flex-col gap-4">
              {summary !== null && (
                <SelectField
                  className="max-w-xl"
                  label="On the engines of"
                  value={summary.id}
                  options={planOptions(plans)}
                  onChange={(id) => write({ plan: id }, "push")}
                />
              )}
              <DeclaredList
                workflows={workflows}
                models={models}
                chosen={shown?.document.name ?? null}
                onWorkflow={(workflow) => write({ workflow }, "push")}
              />
            </div>
          )}
        </PanelState>
      </Panel>
      {removed !== null && (
        <p role="status" className="text-sm text-ink-2">
          {removed}
        </p>
      )}
      {view.workflow !== null && query.data !== undefined && shown?.document.name !== view.workflow && (
        <p role="status" className="text-sm text-warn">
          No workflow {view.workflow} is declared.
        </p>
      )}
      {shown !== undefined && (
        <>
          <DeclaredPanel
            key={shown.document.name}
            declared={shown}
            plan={summary === null || models === null ? null : { workloadId: summary.workloadId, models }}
            onPlan={summary === null ? null : () => write({ open: "plan", workflow: shown.document.name }, "push")}
            onEdit={() => write({ open: "edit", workflow: shown.document.name }, "push")}
            onRemoved={(says) => {
              setRemoved(`${shown.document.name} is removed. ${says}`);
              write({ workflow: null }, "replace");
            }}
          />
          <TryPanel
            key={`try ${shown.document.name}`}
            clusterId={clusterId}
            runningPlanId={cluster.runningPlanId}
            document={shown.document}
          />
          {summary !== null && plan !== null && (
            <CapacityPanel
              key={`${summary.id} ${shown.document.name}`}
              workflow={shown.document.name}
              planId={summary.id}
              planName={summary.name}
              planWorkloadId={summary.workloadId}
            />
          )}
        </>
      )}
      <ImportDialog
        edited={null}
        open={view.open === "import"}
        onClose={() => write({ open: null }, "replace")}
        onKept={(workflow) => write({ open: null, workflow }, "replace")}
      />
      {shown !== undefined && (
        <ImportDialog
          key={`edit ${shown.document.name}`}
          edited={shown}
          open={view.open === "edit"}
          onClose={() => write({ open: null }, "replace")}
          onKept={(workflow) => write({ open: null, workflow }, "replace")}
        />
      )}
      {summary !== null && shown !== undefined && (
        <PlanDialog
          key={shown.document.name}
          open={view.open === "plan"}
          plans={plans}
          planId={summary.id}
          workflows={workflows}
          first={shown.document.name}
          onClose={() => write({ open: null }, "replace")}
        />
      )}
    </>
  );
}
