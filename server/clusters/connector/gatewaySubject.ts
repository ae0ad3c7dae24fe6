import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/** The audit's name of a cluster's gateway; the embedded one's is the studio's own gateway. */
export const gatewaySubject = (spec: Pick<ClusterSpec, "kind" | "name"> | undefined): string =>
  spec === undefined || spec.kind === "embedded" ? "gateway" : `gateway of ${spec.name}`;
