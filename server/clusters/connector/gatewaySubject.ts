import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/** What the audit calls a cluster's gateway; the embedded one's is the gateway that the studio always has. */
export const gatewaySubject = (spec: Pick<ClusterSpec, "kind" | "name"> | undefined): string =>
  spec === undefined || spec.kind === "embedded" ? "gateway" : `gateway of ${spec.name}`;
