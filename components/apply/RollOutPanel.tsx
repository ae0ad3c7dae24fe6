import type { ClusterSummary, PlanDiff } from "@/server/contracts/studio";
import { Figure } from "../ui/Figure";
import { formatCount, formatPercent } from "../ui/format";
import { DipPanel } from "./DipPanel";
import { stopsWithoutDrain } from "./prepareRevisions";

/** The cost of the change while it is made: the remaining capacity, and whose requests are at risk. */
export function RollOutPanel(props: { readonly diff: PlanDiff; readonly cluster: ClusterSummary; readonly held: boolean }) {
  const { diff, cluster, held } = props;
  const dip = <DipPanel planId={diff.planId} clusterId={cluster.spec.id} steps={diff.steps} held={held} />;
  // Attached engines neither start nor stop, so no GPUs are needed.
  if (cluster.topology === "given") return dip;
  const atRisk = stopsWithoutDrain(diff.steps);
  return (
    <div className="flex flex-col gap-4">
      {dip}
      <dl className="flex flex-wrap gap-x-8 gap-y-3 border-t pt-4">
        <Figure
          name="GPUs out beyond what the plan gives up"
          value={formatPercent(diff.capacityDip)}
          detail={
            diff.capacityDip === 0
              ? "no model drops below the smaller of its replica counts before and after"
              : "of the most affected model: too few spare GPUs to start its successor first"
          }
        />
        <Figure name="Spare GPUs" value={formatCount(diff.spareGpus)} detail="free for new engines before old ones stop" />
        <Figure
          name="Engines stopped undrained"
          value={formatCount(atRisk)}
          detail={
            atRisk === 0
              ? "requests at risk: none, each engine drains first"
              : "their requests are retried before the first token, else lost"
          }
        />
      </dl>
    </div>
  );
}
