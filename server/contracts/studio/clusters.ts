import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Panic } from "../gateway/gatewayControls";
import type { Attention } from "./attachedCluster";

export interface ClusterSummary {
  readonly spec: ClusterSpec;
  /** Plan in force, if any. Only clusters that are connected run one. */
  readonly runningPlanId: string | null;
  readonly runningSince: string | null;
  /** What planning begins with: the inputs of the running plan, else what suits a newcomer. */
  readonly suggested: { readonly workloadId: string; readonly requestsPerSecond: number; readonly qualityFloor: number } | null;
  readonly health: { readonly state: "up" | "degraded" | "down" | "not-connected"; readonly reason: string };
  /** What an operator should look at; empty: nothing. */
  readonly attention: readonly Attention[];
  /** Root of the API that clients use, without `/v1`; null: it has no gateway. */
  readonly gatewayUrl: string | null;
  /** `given`: its engines are started outside Weir, and plans change routing only. */
  readonly topology: "given" | "planned";
  /** The panic its gateway is in, as last known; null: none, or the gateway was not heard yet. */
  readonly panic: Panic | null;
  readonly emulated: boolean;
  /** Emulated engines follow the planner's own model to the letter: measuring them tests the drivers, not the predictions. */
  readonly emulatedAsPlanned: boolean;
  readonly timeScale: number;
}

/** A GPU type a cluster can be described with. The price is a default the operator overrides; null: no list price was read. */
export interface GpuChoice {
  readonly id: string;
  readonly name: string;
  readonly memoryGb: number;
  readonly usdPerGpuHour: number | null;
}
