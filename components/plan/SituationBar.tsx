"use client";

import type { WorkloadSummary } from "@/server/contracts/studio";
import { NumberField, SelectField } from "../ui/Field";
import { formatCount, formatRate } from "../ui/format";
import { JudgeBadge } from "../workloads/JudgeBadge";
import { OriginBadges } from "../workloads/OriginBadges";
import { workloadOptions } from "../workloads/workloadOptions";
import { RATE_BOUNDS } from "./address/planCodec";

/** The inputs of planning: a workload at a rate. The cluster is chosen for all pages in the bar above. */
export function SituationBar(props: {
  readonly workloads: readonly WorkloadSummary[];
  readonly workloadId: string;
  readonly requestsPerSecond: number;
  /** Whether the highest rate is searched for: the rate of the page is then the one that is tried first. */
  readonly searchesRate: boolean;
  readonly onWorkload: (id: string) => void;
  readonly onRate: (requestsPerSecond: number) => void;
}) {
  const workload = props.workloads.find((each) => each.id === props.workloadId);
  return (
    <div className="flex flex-wrap items-end gap-x-6 gap-y-2 rounded-lg border bg-panel px-4 py-3">
      <SelectField
        className="w-96 max-w-full"
        label="Workload"
        value={props.workloadId}
        options={workloadOptions(props.workloads)}
        onChange={props.onWorkload}
      />
      <NumberField
        label={props.searchesRate ? "First rate of the search" : "Requests per second"}
        unit="req/s"
        {...RATE_BOUNDS}
        step={1}
        value={props.requestsPerSecond}
        onChange={props.onRate}
      />
      {workload !== undefined && (
        <p className="flex min-h-8 flex-wrap items-center gap-2 text-xs text-ink-3">
          {workload.models.length} models, {formatCount(workload.planningPrompts)} prompts planned on,{" "}
          {formatCount(workload.heldOutPrompts)} held out, recorded at {formatRate(workload.recordedRequestsPerSecond)}
          <OriginBadges workload={workload} />
          <JudgeBadge workload={workload} />
        </p>
      )}
    </div>
  );
}
