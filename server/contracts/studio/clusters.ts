import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Panic } from "../gateway/gatewayControls";
import type { Attention } from "./attachedCluster";

export interface ClusterSummary {
  readonly spec: ClusterSpec;
  /** Plan in force, if any. Only clusters that are connected run one. */
  readonly runningPlanId: string | null;
  readonly runningSince: string | null;
  /** Initial planning input: that of the running plan, or defaults for a new user. */
  readonly suggested: { readonly workloadId: string; readonly requestsPerSecond: number; readonly qualityFloor: number } | null;
  readonly health: { readonly state: "up" | "degraded" | "down" | "not-connected"; readonly reason: string };
  /** What needs an operator's attention; empty: nothing. */
  readonly attention: readonly Attention[];
  /** Root of the API that clients use, without `/v1`; null: it has no gateway. */
  readonly gatewayUrl: string | null;
  /** `given`: its engines are started outside Weir, and plans change routing only. */
  readonly topology: "given" | "planned";
  /** The panic of its gateway, as last known; null: none, or the gateway has not answered yet. */
  readonly panic: Panic | null;
  readonly emulated: boolean;
  /** Emulated engines follow the planner's own model exactly: measuring them tests the drivers, not the predictions. */
  readonly emulatedAsPlanned: boolean;
  readonly timeScale: number;
}

/** A GPU type for describing a cluster. The price is a default that the operator may change; null: no list price is known. */
export interface GpuChoice {
  readonly id: string;
  readonly name: string;
  readonly memoryGb: number;
  readonly usdPerGpuHour: number | null;
}
