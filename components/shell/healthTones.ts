import type { ClusterSummary } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";

/** How a cluster's health word is toned, on every page. */
export const healthTones: Readonly<Record<ClusterSummary["health"]["word"], Tone>> = {
  up: "good",
  degraded: "warn",
  down: "bad",
  "not connected": "neutral",
};
