"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useState } from "react";
import type { LoadStatus } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord, type Tone } from "../ui/Badge";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, SelectField } from "../ui/Field";
import { formatCount, formatRate, formatScore, formatSeconds } from "../ui/format";
import { Notes } from "../ui/Notes";
import { PermittedButton } from "../ui/PermittedButton";
import { workloadOptions } from "../workloads/workloadOptions";
import { type LoadFields, prepareLoadFields } from "./prepareLoadFields";

/** A load that another tab starts is noticed within the longer interval. */
const REFRESH_MS = 2_000;
const IDLE_MS = 10_000;

const tones: Readonly<Record<LoadStatus["state"], Tone>> = { idle: "neutral", running: "accent", done: "good", failed: "bad" };

function Progress({ status }: { readonly status: LoadStatus }) {
  const share = status.seconds > 0 ? Math.min(1, status.elapsedSeconds / status.seconds) : 0;
  return (
    <div className="flex flex-col gap-2" data-testid="load-status">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <StateWord tone={tones[status.state]}>{status.state}</StateWord>
        <span className="text-ink-2">
          {status.workloadName} at {formatRate(status.requestsPerSecond)}: {formatSeconds(status.elapsedSeconds)} of{" "}
          {formatSeconds(status.seconds)}
        </span>
        <span className="text-ink-3">
          {formatCount(status.sent)} sent, {formatCount(status.finished)} finished, {formatCount(status.failed)} failed
        </span>
        <span className="ml-auto text-ink-2">
          p50 {formatSeconds(status.p50Seconds)} · p95 {formatSeconds(status.p95Seconds)} · quality {formatScore(status.quality)}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label="Load"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-1 rounded bg-line"
      >
        <div className="h-full rounded bg-accent" style={{ width: `${share * 100}%` }} />
      </div>
      <Notes items={status.notes ?? []} className="text-sm text-warn" />
      {status.error !== null && (
        <p role="alert" className="text-sm text-bad">
          {status.error}
        </p>
      )}
    </div>
  );
}

/** Replays a workload through the gateway at a chosen rate, open loop: requests are sent when the trace says, not when answers arrive. */
export const LoadPanel = memo(function LoadPanel({ clusterId, plan }: { readonly clusterId: string; readonly plan: Plan | null }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<Partial<LoadFields>>({});
  const workloads = useQuery(trpc.workloads.list.queryOptions()).data ?? [];
  const { data: status } = useQuery(
    trpc.load.status.queryOptions(undefined, {
      staleTime: 0,
      refetchInterval: (query) => (query.state.data?.state === "running" ? REFRESH_MS : IDLE_MS),
    }),
  );
  const { workloadId, requestsPerSecond, seconds } = prepareLoadFields({ status, chosen, plan, workloads });
  const refresh = () => queries.invalidateQueries(trpc.load.pathFilter());
  const start = useMutation({
    mutationFn: async () => unwrapOutcome(await client.load.start.mutate({ clusterId, workloadId, requestsPerSecond, seconds })),
    onSettled: refresh,
  });
  const stop = useMutation(trpc.load.stop.mutationOptions({ onSettled: refresh }));
  const running = status?.state === "running";
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <SelectField
          className="w-64"
          label="Workload to replay"
          value={workloadId}
          disabled={running}
          options={workloadOptions(workloads)}
          onChange={(id) => setChosen({ ...chosen, workloadId: id })}
        />
        <NumberField
          label="Rate"
          unit="req/s"
          min={0.1}
          max={10_000}
          value={requestsPerSecond}
          disabled={running}
          onChange={(value) => setChosen({ ...chosen, requestsPerSecond: value })}
        />
        <NumberField
          label="For"
          unit="s"
          min={1}
          max={86_400}
          value={seconds}
          disabled={running}
          onChange={(value) => setChosen({ ...chosen, seconds: value })}
        />
        {running ? (
          <PermittedButton permission="operate" look="danger" disabled={stop.isPending} onClick={() => stop.mutate()}>
            Stop load
          </PermittedButton>
        ) : (
          <PermittedButton
            permission="operate"
            look="primary"
            disabled={start.isPending || workloadId === "" || plan === null}
            onClick={() => start.mutate()}
          >
            Start load
          </PermittedButton>
        )}
        {plan === null && (
          <p className="flex h-8 items-center gap-1 text-sm text-ink-3">
            The gateway answers once a plan runs:
            <ClusterLink to="/plan">make one</ClusterLink>
          </p>
        )}
      </div>
      <ErrorLine error={start.error} />
      {status !== undefined && status.state !== "idle" && <Progress status={status} />}
    </div>
  );
});
