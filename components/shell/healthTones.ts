import type { ClusterSummary } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";

type HealthState = ClusterSummary["health"]["state"];

/** The tone of a cluster's health, on every page. */
export const healthTones: Readonly<Record<HealthState, Tone>> = {
  up: "good",
  degraded: "warn",
  down: "bad",
  "not-connected": "neutral",
};

/** A cluster's health in words. */
export const healthWord = (state: HealthState): string => (state === "not-connected" ? "not connected" : state);
