import type { ReplicaShape } from "@/solver/hardware/parallelism";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { DeploymentNode } from "../deployment/problem";

/** One way to serve a class: a cascade at its thresholds, one model, or a choice of models for a workflow's agents. */
export interface MixCandidate {
  /** By model of the problem, the mean work of one request of the class, in the unit of its shapes' curves; Infinity where none serves it. */
  readonly work: readonly number[];
  /** Lower 90 % bound of the mean quality, 0..100. */
  readonly quality: number;
  /** Mean seconds of a request that no engine of the plan takes: judges'. */
  readonly otherSeconds: number;
  /** The calls that `work` is the sum of, where some run in parallel; left out: one after another. */
  readonly calls?: readonly MixCall[];
}

/** A call of a program. */
export interface MixCall {
  /** By model of the problem, its mean work, 0 in programs that skip it. */
  readonly work: readonly number[];
  /** The calls whose answers it waits for, by their indices, which are below its own. */
  readonly reads: readonly number[];
}

/** A class of traffic: single requests, or programs of one workflow. */
export interface MixClass {
  readonly name: string;
  /** Single requests, or programs, a second; above 0. */
  readonly requestsPerSecond: number;
  /** Least quality, 0..100. */
  readonly floor: number;
  /** Whether its requests may be divided among candidates; else all have the same one, as a cascade has one list of thresholds. */
  readonly divisible: boolean;
  readonly candidates: readonly MixCandidate[];
}

/** A replica's shape with its throughput. */
export interface MixShape {
  /** GPU type. */
  readonly gpu: string;
  readonly shape: ReplicaShape;
  /** Work a second of one replica with this number of requests in flight, both ascending; the last is its capacity. */
  readonly curve: readonly { readonly inFlight: number; readonly workPerSecond: number }[];
}

/** A model and the shapes in which its replicas may run; none where it fits nowhere. */
export interface MixModel {
  readonly model: string;
  readonly shapes: readonly MixShape[];
}

/** Engines for a mix of classes on one cluster. */
export interface MixProblem {
  readonly classes: readonly MixClass[];
  readonly models: readonly MixModel[];
  readonly nodes: readonly DeploymentNode[];
  /** By GPU type. */
  readonly usdPerGpuHour: Readonly<Record<string, number>>;
  /** Replicas that run now; read where the number of changed ones is limited. */
  readonly running: readonly RunningReplica[];
  /**
   * `minReplicasPerModel` holds for models that have any replica. With `surviveNodeLoss` the replicas carry the mix without those of any one
   * node.
   */
  readonly constraints: PlanConstraints;
  /** Share of its capacity that a model's replicas are loaded with at most, 0..1. */
  readonly loadFactor: number;
  /** Share of the highest factor that may be given up for a shorter time of requests, 0..1. */
  readonly slack: number;
  /** A factor that is enough: beyond it a shorter time counts more. At least 1. */
  readonly enough: number;
}

/** Capacity of a replica: work a second when it is saturated. */
export const capacityOf = ({ curve }: MixShape): number => curve.at(-1)?.workPerSecond ?? 0;

/** Why a problem cannot be stated, in one sentence; null when it can. */
export function problemRefusal({ classes, loadFactor, slack, enough }: MixProblem): string | null {
  if (classes.length === 0) return "The mix has no class of traffic.";
  if (new Set(classes.map(({ name }) => name)).size < classes.length) return "Two classes of the mix have the same name.";
  const still = classes.find(({ requestsPerSecond }) => !(requestsPerSecond > 0 && Number.isFinite(requestsPerSecond)));
  if (still !== undefined) return `${still.name} has no rate above 0.`;
  if (!(loadFactor > 0 && loadFactor <= 1)) return "The load factor is not above 0 and at most 1.";
  if (!(slack >= 0 && slack < 1)) return "The slack is not from 0 to below 1.";
  if (!(enough >= 1)) return "The factor that is enough is below 1.";
  return null;
}
