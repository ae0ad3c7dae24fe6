"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { ProfileJob } from "@/server/contracts/studio";
import { useProfileAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { TrustPanel } from "../labelling/TrustPanel";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge, StateWord } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatDate } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { WorkloadTabs } from "../workloads/WorkloadTabs";
import { AskedDetails } from "./AskedDetails";
import { JobActions } from "./JobActions";
import { MakeWorkload } from "./MakeWorkload";
import { PausedNotice } from "./PausedNotice";
import { ProgressPanel } from "./ProgressPanel";
import { askedText, jobRefreshMs, stateOf } from "./prepareJob";
import { useIsEmulated } from "./useIsEmulated";

/** Exports the measured latencies to Calibration, where predictions are compared with them. */
function UseForCalibration({ job }: { readonly job: ProfileJob }) {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const take = useProfileAct(
    () => client.profiles.toMeasuredRuns.mutate({ jobId: job.id }),
    ({ uploadId }) => router.push(link(`/calibration?rows=${uploadId}`)),
  );
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <Button disabled={take.isPending} onClick={() => take.mutate()}>
        {take.isPending ? "Taking them …" : "Use its latencies for calibration"}
      </Button>
      <span className="min-w-0 text-xs text-ink-3">TTFT and time per token of engines with known hardware, compared with predictions.</span>
      <ErrorLine error={take.error} />
    </div>
  );
}

function Opened({ job }: { readonly job: ProfileJob }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-2 [overflow-wrap:anywhere]">
        {askedText(job)}; started {formatDate(job.createdAt)} by {job.actor}.
      </p>
      <PausedNotice job={job} />
      <ProgressPanel job={job} />
      <MakeWorkload key={job.id} job={job} />
      {job.hasAnswers && (
        <div className="flex flex-wrap items-center gap-3 rounded-lg border bg-panel px-4 py-3 text-sm">
          <ClusterLink to={`/workloads/profiles/${job.id}/label`} className={buttonClass("primary")}>
            Label by hand
          </ClusterLink>
          <span className="min-w-0 flex-1 basis-60 text-ink-2">
            A few dozen blind labels, entered by keyboard, show how far each measure can be trusted.
          </span>
        </div>
      )}
      <TrustPanel jobId={job.id} workloadIds={job.workloadIds} />
      <div className="flex flex-col gap-3 rounded-lg border bg-panel px-4 py-3">
        <UseForCalibration job={job} />
        <AskedDetails job={job} />
      </div>
    </div>
  );
}

/** Answers of emulated engines say nothing of real models. */
const Emulated = ({ job }: { readonly job: ProfileJob }) => useIsEmulated(job) && <Badge tone="hatched">emulated</Badge>;

/** One profile: its progress, its obstacles and its results. */
export function ProfileScreen({ id }: { readonly id: string }) {
  const query = useQuery(
    useTRPC().profiles.get.queryOptions({ id }, { staleTime: 0, refetchInterval: ({ state }) => jobRefreshMs(state.data?.state) }),
  );
  const job = query.data;
  const state = job === undefined ? null : stateOf(job);
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title={job?.request.name ?? "Profile"}>
        {state !== null && (
          <span role="status" data-testid="profile-state">
            <StateWord tone={state.tone}>{state.word}</StateWord>
          </span>
        )}
        {job !== undefined && <Emulated job={job} />}
        {job !== undefined && <JobActions job={job} />}
      </PageHeader>
      <WorkloadTabs />
      <PanelState status={queryStatus(query, { what: "Reading the profile" })}>
        {() => job !== undefined && <Opened job={job} />}
      </PanelState>
    </div>
  );
}
