"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { buttonClass } from "../ui/Button";
import { PageHeader } from "../ui/PageHeader";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { ImportWorkload } from "./ImportWorkload";
import { prepareWorkloads } from "./prepareWorkloads";
import { WorkloadTable } from "./WorkloadTable";
import { WorkloadTabs } from "./WorkloadTabs";
import { tick, workloadsCodec } from "./workloadsCodec";

/** Workloads: the inputs of plans, their versions, and how to add one. */
export function WorkloadsScreen() {
  const trpc = useTRPC();
  const query = useQuery(trpc.workloads.list.queryOptions());
  const uses = useQuery(trpc.workloads.uses.queryOptions());
  const [view, write] = useUrlView(workloadsCodec);
  const bring = () => write({ bring: "choose" }, "push");
  const asked = queryStatus(query, {
    what: "Reading workloads",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No workload yet",
      text: "Plans use prompts and the length and quality of each model's answers. Import your own.",
      action: (
        <PermittedButton permission="prepare" onClick={bring}>
          Import
        </PermittedButton>
      ),
    },
  });
  const status: PanelStatus =
    asked.kind === "ready" && uses.error !== null
      ? { kind: "partial", note: `the number of plans of each workload is unknown: ${uses.error.message}` }
      : asked;
  const known = new Set(query.data?.map(({ id }) => id));
  const ticked = view.ticked.filter((id) => known.has(id));
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Workloads">
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <CompareLink ticked={ticked} />
          <PermittedButton permission="prepare" look="primary" onClick={bring}>
            Import
          </PermittedButton>
        </div>
      </PageHeader>
      <WorkloadTabs />
      <PanelState status={status}>
        {() => (
          <div className="rounded-lg border bg-panel px-4 py-2">
            <WorkloadTable
              groups={prepareWorkloads(query.data ?? [], uses.data ?? {})}
              ticked={ticked}
              unfolded={view.unfolded}
              onTick={(id) => write({ ticked: tick(ticked, id) }, "replace")}
              onUnfold={(name) =>
                write(
                  { unfolded: view.unfolded.includes(name) ? view.unfolded.filter((one) => one !== name) : [...view.unfolded, name] },
                  "replace",
                )
              }
            />
          </div>
        )}
      </PanelState>
      {view.bring !== null && (
        <ImportWorkload step={view.bring} onStep={(step) => write({ bring: step }, step === null ? "replace" : "push")} />
      )}
    </div>
  );
}

function CompareLink({ ticked }: { readonly ticked: readonly string[] }) {
  const [a, b] = ticked;
  if (a === undefined || b === undefined) return <span className="text-sm text-ink-3">Tick two to compare them.</span>;
  return (
    <ClusterLink to={`/workloads/compare?a=${a}&b=${b}`} className={buttonClass("plain")}>
      Compare
    </ClusterLink>
  );
}
