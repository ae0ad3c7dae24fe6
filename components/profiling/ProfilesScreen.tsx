"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { ProfileJob } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatCounted, formatDate, formatUsd } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { WorkloadTabs } from "../workloads/WorkloadTabs";
import { ProgressBar } from "./ProgressBar";
import { askedText, leftText, prepareJob } from "./prepareJob";

const BUSY_MS = 2_000;
const IDLE_MS = 30_000;

const columns = [
  { key: "name", name: "Profile" },
  { key: "state", name: "State" },
  { key: "progress", name: "Progress" },
  { key: "spent", name: "Spent", numeric: true },
  { key: "workloads", name: "Made of it" },
];

function JobRow({ job }: { readonly job: ProfileJob }) {
  const link = useClusterLink();
  const picture = prepareJob(job);
  const { workloadIds } = job;
  const only = workloadIds.length === 1 ? workloadIds[0] : undefined;
  return (
    <tr className="align-top" data-testid="profile">
      <td className="min-w-48">
        <Link
          href={link(`/workloads/profiles/${job.id}`)}
          className="font-medium underline-offset-2 [overflow-wrap:anywhere] hover:underline"
        >
          {job.request.name}
        </Link>
        <span className="block text-xs text-ink-3 [overflow-wrap:anywhere]">{askedText(job)}</span>
        <span className="block text-xs text-ink-3">
          {formatDate(job.createdAt)} by {job.actor}
        </span>
      </td>
      <td>
        <StateWord tone={picture.tone}>{picture.word}</StateWord>
        {job.pause !== null && <span className="mt-1 block max-w-72 text-xs text-ink-2 [overflow-wrap:anywhere]">{job.pause.reason}</span>}
      </td>
      <td className="min-w-40">
        <span className="block text-xs whitespace-nowrap text-ink-2">{picture.says}</span>
        <ProgressBar label={`Calls of ${job.request.name}`} done={picture.share} failed={0} />
        <span className="block text-xs text-ink-3">{leftText(job)}</span>
      </td>
      <td className="text-right whitespace-nowrap">
        {formatUsd(job.spentUsd)}
        <span className="block text-xs text-ink-3">{job.request.capUsd === null ? "no cap" : `of ${formatUsd(job.request.capUsd)}`}</span>
      </td>
      <td className="whitespace-nowrap">
        {only === undefined ? (
          <span className="text-ink-3">{workloadIds.length === 0 ? "nothing yet" : formatCounted(workloadIds.length, "workload")}</span>
        ) : (
          <Link href={link(`/workloads/${only}`)} className="underline underline-offset-2">
            its workload<span className="sr-only"> of {job.request.name}</span>
          </Link>
        )}
      </td>
    </tr>
  );
}

/** Profiles: models answer a sample of prompts, measures score the answers. */
export function ProfilesScreen() {
  const query = useQuery(
    useTRPC().profiles.list.queryOptions(undefined, {
      refetchInterval: ({ state }) => (state.data?.some((job) => job.state === "running") ? BUSY_MS : IDLE_MS),
    }),
  );
  const link = useClusterLink();
  const fresh = (
    <Link href={link("/workloads/profiles/new")} className={buttonClass("primary")}>
      New profile
    </Link>
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
            <Table caption="Profiles" columns={columns}>
              {(query.data ?? []).map((job) => (
                <JobRow key={job.id} job={job} />
              ))}
            </Table>
          )}
        </PanelState>
      </Panel>
    </div>
  );
}
