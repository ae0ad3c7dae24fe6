import type { DeployedStage } from "./deployedStage";
import type { Deployed } from "./finalist";

/** The worst loss of a node, where a plan is to survive any. */
export interface NodeLoss {
  readonly node: string;
  /** Objective latency by the tables of what is left then, in seconds. */
  readonly tableSeconds: number;
}

/** A deployment as it is once a node is lost, with every replica that has a part on it. */
export function withoutNode(
  { deployment, kept }: Pick<Deployed, "deployment" | "kept">,
  node: string,
): Pick<Deployed, "deployment" | "kept"> {
  const left = (stages: readonly DeployedStage[]): DeployedStage[] =>
    stages.map((stage) => {
      const groups = stage.groups.map((group) => {
        const placements = group.placements.filter((own) => own.every((part) => part.node !== node));
        return { ...group, placements, count: placements.length };
      });
      return { ...stage, groups, replicas: stage.replicas.map((own, index) => ({ ...own, count: groups[index]?.count ?? 0 })) };
    });
  return { deployment: left(deployment), kept: left(kept) };
}
