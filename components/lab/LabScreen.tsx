"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { LabSpec, LabWorkflow, WorkloadSummary } from "@/server/contracts/studio";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import { useLabAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useHindrance } from "../api/useMe";
import { Predictors } from "../predictors/Predictors";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { shortHash } from "../ui/format";
import { lockedStatus } from "../ui/lockedStatus";
import { Notes } from "../ui/Notes";
import { NumberGuard } from "../ui/NumberGuard";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { Tabs } from "../ui/Tabs";
import { useUrlView } from "../url/useUrlView";
import { lackingModels } from "./composeSystem";
import { type LabTab, type LabView, labCodec, labTabs, noneChosen } from "./labCodec";
import { runSize } from "./prepareRun";
import { describedRun, placedRefusal, setupRefusal, suggestedWorkload } from "./prepareSetup";
import { ResultPanel } from "./ResultPanel";
import { RunList } from "./RunList";
import { RunPanel } from "./RunPanel";
import { SetupPanel, SetupSummary } from "./SetupPanel";
import { formatSpec, parseSpec } from "./specText";
import { useRun } from "./useRun";
import { useSuggestion } from "./useSuggestion";

const names: Readonly<Record<LabTab, string>> = { race: "Race", runs: "Runs", predictors: "Predictors" };

/** The tabs of this page: the race, past runs, and predictors. */
function LabTabs({ tab, onTab }: { readonly tab: LabTab; readonly onTab: (tab: LabTab) => void }) {
  return <Tabs label="Lab" names={names} tabs={labTabs} tab={tab} onTab={onTab} />;
}

const NO_WORKFLOWS: readonly LabWorkflow[] = [];

type Write = (change: Partial<LabView>, how: "push" | "replace") => void;

/** The current description, and the button that runs it. */
function Setup(props: {
  readonly view: LabView;
  readonly write: Write;
  readonly spec: LabSpec | null;
  readonly workloads: readonly WorkloadSummary[];
  readonly workflows: readonly LabWorkflow[];
}) {
  const { view, write, workloads, workflows } = props;
  const client = useTRPCClient();
  const cluster = useCurrentCluster();
  const picked = suggestedWorkload(workloads, view.workload, cluster?.suggested?.workloadId ?? null);
  const workloadId = props.spec?.workloadId ?? (cluster === null && view.workload === null ? null : picked.id);
  const kept = workloads.some(({ id }) => id === workloadId);
  const suggestion = useSuggestion(kept ? workloadId : null, view.plan, props.spec);
  const hindrance = useHindrance("prepare");
  const spec = props.spec ?? (suggestion.isPlaceholderData ? null : (suggestion.data?.spec ?? null));
  const change = (part: Partial<LabSpec>, how: "push" | "replace") => {
    if (spec !== null) write({ spec: formatSpec({ ...spec, ...part }), run: null, ...noneChosen }, how);
  };
  const start = useLabAct(
    (what: LabSpec) => client.lab.start.mutate(what),
    ({ id }) => spec !== null && write({ run: id, spec: formatSpec(spec), ...noneChosen }, "push"),
  );
  const startOver = (part: Partial<LabView>) =>
    write({ ...noneChosen, workload: workloadId, plan: null, spec: null, run: null, ...part }, "push");
  const refused =
    spec === null
      ? null
      : (setupRefusal(spec, workloads) ??
        spec.systems.map((system) => systemRefusal(system, spec.replicas)).find((refusal) => refusal !== null) ??
        null);
  // Problems of the whole list of systems are shown above it, with the remedy.
  const toldAbove = spec !== null && suggestion.data !== undefined && lackingModels(spec.systems, spec.replicas).length > 0 && kept;
  const why =
    refused !== null
      ? { message: refused }
      : start.error !== null && start.variables !== undefined
        ? { message: placedRefusal(start.error, start.variables) }
        : null;
  const notes = [
    view.spec !== null &&
      props.spec === null &&
      "The description in this address cannot be read: it was cut or changed. The suggested race is shown instead.",
    props.spec === null && picked.note,
    suggestion.data?.planGone === true && "The plan in this address is not stored here. The suggested race is shown instead.",
  ].filter((note) => typeof note === "string");
  const status: PanelStatus =
    workloadId === null || (props.spec === null && suggestion.isPlaceholderData)
      ? { kind: "loading", what: "Reading workloads" }
      : props.spec !== null
        ? suggestion.error === null
          ? { kind: "ready" }
          : {
              kind: "partial",
              note: `no systems are suggested for this description: ${placedRefusal(suggestion.error, props.spec)}`,
            }
        : hindrance !== null
          ? lockedStatus(hindrance)
          : queryStatus(suggestion, { what: "Suggesting a race" });
  return (
    <Panel
      title="Set up a race"
      aside={
        <Button disabled={view.spec === null && view.plan === null} onClick={() => startOver({})}>
          Back to the suggested race
        </Button>
      }
    >
      <Notes items={notes} role="alert" className="mb-3 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn" />
      <PanelState status={status}>
        {() =>
          spec !== null && (
            <NumberGuard>
              {(sound) => (
                <>
                  <SetupPanel
                    spec={spec}
                    suggestion={suggestion.data}
                    workloads={workloads}
                    workflows={workflows}
                    onWorkload={(workload) => (kept ? startOver({ workload }) : change({ workloadId: workload }, "push"))}
                    onPlan={(plan) => startOver({ plan })}
                    onChange={change}
                  />
                  <div className="mt-3 flex flex-wrap items-center gap-3 border-t pt-3">
                    <PermittedButton
                      permission="prepare"
                      look="primary"
                      disabled={start.isPending || refused !== null || !sound}
                      onClick={() => start.mutate(spec)}
                    >
                      {start.isPending ? "Starting …" : "Run the race"}
                    </PermittedButton>
                    <p className="min-w-0 flex-1 basis-60 text-sm text-ink-2" data-testid="lab-size">
                      {runSize(spec, workflows).text}
                    </p>
                    <ErrorLine error={toldAbove ? null : why} />
                  </div>
                </>
              )}
            </NumberGuard>
          )
        }
      </PanelState>
    </Panel>
  );
}

/** A run that the address names, and its figures; or the description, where the run is not stored here. */
function Race({ view, write }: { readonly view: LabView; readonly write: Write }) {
  const trpc = useTRPC();
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const workflows = useQuery(trpc.lab.workflows.queryOptions()).data ?? NO_WORKFLOWS;
  const spec = useMemo(() => (view.spec === null ? null : parseSpec(view.spec)), [view.spec]);
  const query = useRun(view.run);
  const run = view.run === null ? null : (query.data ?? null);
  const described = useMemo(
    () => (run === null ? null : describedRun({ run: view.run, spec: view.spec }, run)),
    [view.run, view.spec, run],
  );
  useEffect(() => {
    if (described !== null) write(described, "replace");
  }, [described, write]);
  if (view.run !== null && query.data !== null) {
    return (
      <PanelState status={queryStatus(query, { what: "Reading the run" })}>
        {() =>
          run !== null && (
            <>
              <Panel
                title="The race"
                aside={
                  <Button onClick={() => write({ spec: formatSpec(run.spec), run: null, ...noneChosen }, "push")}>
                    Change the description
                  </Button>
                }
              >
                <SetupSummary spec={run.spec} workloadName={run.workloadName} workflows={workflows} />
              </Panel>
              <RunPanel run={run} onGoOn={(id) => write({ run: id }, "replace")} />
              <ResultPanel run={run} view={view} write={write} />
            </>
          )
        }
      </PanelState>
    );
  }
  const status = queryStatus(workloads, {
    what: "Reading workloads",
    empty: workloads.data?.length === 0 && {
      kind: "empty",
      title: "No workload yet",
      text: "Programs are made of a workload's prompts and each model's answers. Add a workload on the Workloads page.",
    },
  });
  return (
    <>
      {view.run !== null && (
        <p role="status" className="rounded-md bg-sunken px-3 py-2 text-sm text-ink-2">
          {spec === null
            ? "The run in this address is not stored here, and the address does not describe it."
            : `The run of this link is not stored here. Its description is below: run it. With the same cards, engine profile, prompt texts and release as in the link, the run gets the same name, ${shortHash(view.run)}, and the same figures.`}
        </p>
      )}
      <PanelState status={status}>
        {() => <Setup view={view} write={write} spec={spec} workloads={workloads.data ?? []} workflows={workflows} />}
      </PanelState>
    </>
  );
}

/** The lab: which way of routing and ordering would have served this workload best? */
export function LabScreen() {
  const [view, write] = useUrlView(labCodec);
  const spec = useMemo(() => (view.spec === null ? null : parseSpec(view.spec)), [view.spec]);
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Lab">
        <p className="text-sm text-ink-3">Race ways of routing, ordering and placing on programs of your own prompts.</p>
      </PageHeader>
      <LabTabs tab={view.tab} onTab={(tab) => write({ tab }, "push")} />
      {view.tab === "race" && <Race view={view} write={write} />}
      {view.tab === "runs" && <RunList />}
      {view.tab === "predictors" && <Predictors workloadId={spec?.workloadId ?? view.workload} />}
    </div>
  );
}
