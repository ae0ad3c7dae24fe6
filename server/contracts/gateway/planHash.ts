import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import type { Plan, SolverReport } from "@/solver/plan/plan";
import { policyHash } from "./policyHash";

type Hashed = Pick<Plan, "deployment" | "policy" | "inputs" | "predictions" | "solver">;

const sha256Of = (content: unknown): string =>
  createHash("sha256")
    .update(canonicalJson(content as Json))
    .digest("hex");

/** A plan's three hashes under the present rule: of its topology, of its policy, and its id, which is that of its whole content. */
export const planHashes = (plan: Hashed) => ({
  topologyHash: sha256Of(plan.deployment),
  policyHash: policyHash(plan.policy),
  id: contentHash(plan),
});

/**
 * SHA-256 of everything in a plan that an approver relies on: deployment, policy, inputs with cluster and workload, predictions, and the
 * solver's report. Name, date and the effort of solving are not covered, so that equal questions have equal ids.
 */
export function contentHash({ deployment, policy, inputs, predictions, solver }: Hashed): string {
  return sha256Of({ rule: 2, deployment, policy, inputs, predictions, solver: withoutEffort(solver) });
}

/** Ids under the rules of plans that have no `rule`, newest first: deployment and policy with the cluster's id, and these two alone. */
export const earlierPlanIds = ({ deployment, policy, inputs }: Hashed): readonly string[] => [
  sha256Of({ clusterId: inputs.cluster.id, deployment, policy }),
  sha256Of({ deployment, policy }),
];

/** What the approval of a plan on a cluster binds to. */
export interface Approved {
  /** Under which rule it was sealed does not matter: its whole content is covered. */
  readonly plan: Plan;
  readonly clusterId: string;
  /** The cluster's connection as it is stored; null: only described, or embedded. */
  readonly connection: Readonly<Record<string, unknown>> | null;
}

/**
 * The hash that an approval names: of the plan's content, the cluster's id, and the connection, which has the commands and templates that
 * start engines and the addresses of those that are attached. The addresses of GPU exporters are not covered: they only measure.
 */
export function approvalHash({ plan, clusterId, connection }: Approved): string {
  const { dcgmUrls: _, ...starts } = connection ?? {};
  return sha256Of({ plan: contentHash(plan), clusterId, connection: connection === null ? null : starts });
}

function withoutEffort({ seconds: _, evaluatedThresholds: __, replicaSimulations: ___, ...report }: SolverReport) {
  return report;
}
