import type { MilpEngine } from "@/solver/milp/engine";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { CascadePolicy, Objective } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";
import type { Explorer } from "../explore/explorer";
import type { OnProgress } from "../explore/progress";
import type { AllocationProof, RoutingTables } from "./allocateExactly";
import type { DeployedStage } from "./deployedStage";

/** A routing deployed down to single GPUs. */
export interface Deployed {
  readonly routing: number;
  /** Per stage of the cascade. */
  readonly deployment: readonly DeployedStage[];
  /** Models that are deployed without being a stage of the cascade: a judge that is an engine, then pinned models. */
  readonly kept: readonly DeployedStage[];
  /** Per row of the explorer, simulated for exactly its own requests. */
  readonly tables: RoutingTables["tables"];
  /** Objective latency that the tables promised, in seconds. */
  readonly tableSeconds: number;
  readonly proof: AllocationProof;
  /** The worst loss of a node; null where no loss is to be survived. */
  readonly loss: NodeLoss | null;
  /** Sentences that an operator should know about the deployment. */
  readonly says: readonly string[];
}

export interface FinalistInput {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly cluster: ClusterSpec;
  readonly objective: Objective;
  readonly constraints: PlanConstraints;
  readonly running: readonly RunningReplica[];
  readonly engine: MilpEngine;
  /** A clock for the time that solvers take. */
  readonly elapsedSeconds: () => number;
  /** The policy of the routing, as the gateway will run it. */
  readonly policyOf: (routing: number) => CascadePolicy;
  /** Called when the deployment of the routing starts and when its simulation begins. */
  readonly progress: (phase: Parameters<OnProgress>[0]["phase"]) => void;
}

/** A routing to deploy, the most GPUs it may use and, if the cost is minimised, the latency bound in the tables (null: none). */
export interface ToDeploy {
  readonly routing: number;
  readonly gpus: number;
  readonly budgetSeconds: number | null;
}

/** The worst loss of a node, where a plan is to survive any. */
export interface NodeLoss {
  readonly node: string;
  /** Objective latency by the tables of what is left then, in seconds. */
  readonly tableSeconds: number;
}

/** A deployment after the loss of a node and of the replicas that have a part on it. */
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
