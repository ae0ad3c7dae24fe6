import type { LoadStatus, WorkloadSummary } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";

/** What the load panel's fields hold. */
export interface LoadFields {
  readonly workloadId: string;
  readonly requestsPerSecond: number;
  readonly seconds: number;
}

export interface LoadFieldFacts {
  readonly status: LoadStatus | undefined;
  /** What the operator set on this page. */
  readonly chosen: Partial<LoadFields>;
  readonly plan: Plan | null;
  readonly workloads: readonly Pick<WorkloadSummary, "id" | "name">[];
}

const DEFAULT_SECONDS = 120;
const DEFAULT_RATE = 5;

/** The running load, whoever started it; else the choices made here, and the planned values of the plan in force for the rest. */
export function prepareLoadFields({ status, chosen, plan, workloads }: LoadFieldFacts): LoadFields {
  const planned = plan?.inputs.workload;
  const choice = {
    workloadId: chosen.workloadId ?? workloads.find((each) => each.id === planned?.id)?.id ?? workloads[0]?.id ?? "",
    requestsPerSecond: chosen.requestsPerSecond ?? planned?.requestsPerSecond ?? DEFAULT_RATE,
    seconds: chosen.seconds ?? DEFAULT_SECONDS,
  };
  if (status?.state !== "running") return choice;
  const { requestsPerSecond, seconds, workloadName } = status;
  const named = workloads.filter((each) => each.name === workloadName);
  // A load reports only the workload's name, which versions share.
  const runs = named.find(({ id }) => id === choice.workloadId) ?? named[0];
  return { workloadId: runs?.id ?? choice.workloadId, requestsPerSecond, seconds };
}
