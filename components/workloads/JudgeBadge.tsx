import type { WorkloadSummary } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";

/** Whether judged scores were measured, on real or emulated engines, or are modelled, and the reliability of the modelled judge. */
export function JudgeBadge({ workload: { judge, measured } }: { readonly workload: Pick<WorkloadSummary, "judge" | "measured"> }) {
  if (judge.kind === "measured" && measured?.emulated) {
    return (
      <Badge tone="hatched" title="Judged scores were measured on answers of emulated engines.">
        judge measured, emulated
      </Badge>
    );
  }
  if (judge.kind === "measured") return <Badge tone="accent">judge measured</Badge>;
  return (
    <Badge tone="hatched" title="Judged scores are drawn from a model of a judge with this reliability.">
      judge modelled{judge.auc === null ? "" : `, AUC ${judge.auc.toFixed(2)}`}
    </Badge>
  );
}
