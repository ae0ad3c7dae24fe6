import type { WorkloadSummary, WorkloadUses } from "@/server/contracts/studio";
import { formatCount, formatCounted, formatRate, formatScore } from "../ui/format";

export interface WorkloadRow {
  readonly workload: WorkloadSummary;
  readonly version: string;
  readonly from: string;
  readonly models: readonly { readonly model: string; readonly quality: string }[];
  readonly prompts: string;
  readonly rate: string;
  /** Plans made from it; null: none. */
  readonly plans: string | null;
}

/** Workloads of one name. */
export interface WorkloadGroup {
  readonly name: string;
  readonly newest: WorkloadRow;
  /** Newest first. */
  readonly earlier: readonly WorkloadRow[];
}

/** Groups by name, the most recently made first; in each the newest version represents the others. */
export function prepareWorkloads(workloads: readonly WorkloadSummary[], uses: WorkloadUses): readonly WorkloadGroup[] {
  const named = new Map<string, WorkloadSummary[]>();
  for (const workload of [...workloads].sort((a, b) => b.createdAt.localeCompare(a.createdAt))) {
    const known = named.get(workload.name);
    if (known === undefined) named.set(workload.name, [workload]);
    else known.push(workload);
  }
  return [...named].flatMap(([name, of]) => {
    const [newest, ...earlier] = of.sort((a, b) => b.version - a.version).map((workload) => prepareRow(workload, uses));
    return newest === undefined ? [] : [{ name, newest, earlier }];
  });
}

function prepareRow(workload: WorkloadSummary, uses: WorkloadUses): WorkloadRow {
  const plans = uses[workload.id] ?? 0;
  return {
    workload,
    version: versionText(workload),
    from: whereFrom(workload),
    models: workload.models.map(({ model, meanLabel }) => ({ model, quality: formatScore(meanLabel) })),
    prompts: formatCount(workload.prompts),
    rate: formatRate(workload.recordedRequestsPerSecond),
    plans: plans === 0 ? null : formatCounted(plans, "plan"),
  };
}

export const versionText = ({ version }: Pick<WorkloadSummary, "version">): string => `v${version}`;

/** The origin of a workload's prompts and outcomes, in a word or two. */
export function whereFrom({ generated, parentId, profileId, measured, observed }: WorkloadSummary): string {
  if (parentId !== null) return "other arrivals";
  if (profileId !== null || measured !== undefined) return "profile";
  if (observed) return "seen traffic";
  return generated ? "generated" : "table";
}

/** The origin of judged scores, in a word or two. */
export function judgedText({ judge, measured }: Pick<WorkloadSummary, "judge" | "measured">): string {
  if (judge.kind === "modelled") return "modelled";
  return measured?.emulated ? "measured, emulated" : "measured";
}
