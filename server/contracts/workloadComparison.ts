import type { ComparedContent } from "@/solver/workload/compareWorkloads";
import type { WorkloadSummary } from "./studio";

/** Two workloads held against each other. */
export interface WorkloadComparison {
  readonly a: WorkloadSummary;
  readonly b: WorkloadSummary;
  readonly content: ComparedContent;
}
