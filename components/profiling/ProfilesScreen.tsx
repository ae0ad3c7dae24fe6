"use client";

import { useQuery } from "@tanstack/react-query";
import type { ProfileJob } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { ProgressBar } from "../charts/ProgressBar";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatCounted, formatDate, formatUsd } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { WorkloadTabs } from "../workloads/WorkloadTabs";
import { askedText, leftText, prepareJob } from "./prepareJob";

const BUSY_MS = 2_000;
const IDLE_MS = 30_000;

function JobItem({ job }: { readonly job: ProfileJob }) {
  const picture = prepareJob(job);
  const { workloadIds, pause } = job;
  const only = workloadIds.length === 1 ? workloadIds[0] : undefined;
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 border-b py-3 first:pt-0 last:border-0 last:pb-0" data-testid="profile">
      <div className="min-w-0 flex-1 basis-64">
        <h3 className="flex flex-wrap items-center gap-2 text-sm font-medium">
          <ClusterLink to={`/workloads/profiles/${job.id}`} className="underline underline-offset-2 [overflow-wrap:anywhere]">
            {job.request.name}
          </ClusterLink>
          <StateWord tone={picture.tone}>{picture.word}</StateWord>
        </h3>
        <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">
          {askedText(job)}; {formatDate(job.createdAt)} by {job.actor}
        </p>
        {pause !== null && <p className="mt-1 max-w-prose text-xs text-ink-2 [overflow-wrap:anywhere]">{pause.reason}</p>}
      </div>
      <div className="flex basis-60 flex-col gap-1 max-sm:basis-full">
        <p className="flex flex-wrap justify-between gap-x-3 text-xs text-ink-2">
          <span>{picture.says}</span>
          <span className="text-ink-3">{leftText(job)}</span>
        </p>
        <ProgressBar label={`Calls of ${job.request.name}`} done={picture.share} failed={0} />
      </div>
      <dl className="flex w-72 max-w-full flex-wrap gap-x-6 gap-y-2 text-sm [&_dt]:text-xs [&_dt]:text-ink-3">
        <div className="min-w-36">
          <dt>Spent</dt>
          <dd>
            {formatUsd(job.spentUsd)}{" "}
            <span className="text-xs text-ink-3">{job.request.capUsd === null ? "no cap" : `of ${formatUsd(job.request.capUsd)}`}</span>
          </dd>
        </div>
        <div className="min-w-24">
          <dt>Workloads</dt>
          <dd>
            {only === undefined ? (
              <span className="text-ink-2">{workloadIds.length === 0 ? "nothing yet" : formatCounted(workloadIds.length, "workload")}</span>
            ) : (
              <ClusterLink to={`/workloads/${only}`} className="underline underline-offset-2">
                its workload<span className="sr-only"> of {job.request.name}</span>
              </ClusterLink>
            )}
          </dd>
        </div>
      </dl>
    </li>
  );
}

/** Profiles: models answer a sample of prompts, measures score the answers. */
export function ProfilesScreen() {
  const query = useQuery(
    useTRPC().profiles.list.queryOptions(undefined, {
      refetchInterval: ({ state }) => (state.data?.some((job) => job.state === "running") ? BUSY_MS : IDLE_MS),
    }),
  );
  const fresh = (
    <ClusterLink to="/workloads/profiles/new" className={buttonClass("primary")}>
      New profile
    </ClusterLink>
  );
  const status = queryStatus(query, {
    what: "Reading profiles",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No profile yet",
      text: "A profile asks your models a sample of your prompts and has judges, references or tests score the answers. It becomes a workload that plans are made on.",
      action: fresh,
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Profiles">
        {query.data !== undefined && query.data.length > 0 && <div className="ml-auto">{fresh}</div>}
      </PageHeader>
      <WorkloadTabs />
      <Panel title="Profiles">
        <PanelState status={status}>
          {() => (
            <ul className="list-none">
              {(query.data ?? []).map((job) => (
                <JobItem key={job.id} job={job} />
              ))}
            </ul>
          )}
        </PanelState>
      </Panel>
    </div>
  );
}
