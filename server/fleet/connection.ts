import { z } from "zod";
import type { Answer } from "@/server/clusters/connector/connector";
import { connectionSchema as endpointConnectionSchema } from "@/server/endpoints/connection";
import { connectionSchema as kubernetesConnectionSchema } from "@/server/kubernetes/connection";
import { connectionSchema as processConnectionSchema } from "@/server/processes/processConnection";
import { connectionSchema as rayConnectionSchema } from "@/server/ray/connection";

/** How the studio reaches what a cluster is made of, by the kind of cluster. Secrets by reference only. */
export const clusterConnectionSchema = z.discriminatedUnion("kind", [
  endpointConnectionSchema,
  processConnectionSchema,
  kubernetesConnectionSchema,
  rayConnectionSchema,
]);

export type ClusterConnection = z.infer<typeof clusterConnectionSchema>;

/** A connection as it is kept, checked anew; the first fault in a sentence where it cannot be used (any more). */
export function readConnection(kept: unknown): Answer<ClusterConnection> {
  const parsed = clusterConnectionSchema.safeParse(kept);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "The connection" : `The connection's ${issue.path.join(".")}`;
  return { ok: false, message: `${field} cannot be used: ${(issue?.message ?? "it does not fit").replace(/\.$/, "")}.` };
}
