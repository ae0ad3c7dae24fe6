import type { PlanConstraints } from "@/solver/plan/constraints";
import { best, choose, meeting, promisedQuality } from "../choose/choose";
import type { Candidate, Knobs } from "../explore/exploration";
import { constrainedCandidates } from "./constrainedCandidates";
import { type Constrained, gpusAllowed, isConstrained } from "./constrainedDeployment";

/** The best candidate by the tables, deployed where constraints ask for it. */
export interface BestByTables {
  /** null where no candidate keeps all demands. */
  readonly candidate: Candidate | null;
  /** The smallest latency among the candidates examined, which a budget would have to allow; Infinity where there is none. */
  readonly heldSeconds: number;
  /** Whether a better candidate may have been left untried. */
  readonly cut: boolean;
}

/**
 * The best by the tables that keeps floor, budget and constraints, found as for a plan. The explorer applies exclusions and shapes.
 *
 * @param sought `any`: the first that keeps them. `routing`: the one that may be deployed, as an index into the exploration; null: any.
 */
export function bestByTables(
  input: Constrained,
  knobs: Knobs,
  { sought, routing }: { readonly sought: "best" | "any"; readonly routing: number | null },
): BestByTables {
  const allowed = { ...knobs, slack: undefined, maxGpus: gpusAllowed(input.cluster, input.constraints, knobs.maxGpus) };
  const { candidates } = choose(input.explorer.exploration(), allowed);
  const within = meeting(candidates, allowed).filter((candidate) => routing === null || candidate.routing === routing);
  const quality = promisedQuality(knobs);
  if (!isConstrained(input)) {
    const heldSeconds = Math.min(...within.map(({ latencySeconds }) => latencySeconds));
    return { candidate: best(within, knobs.kind, quality), heldSeconds, cut: false };
  }
  const deployed = constrainedCandidates(input, { within, over: [] }, allowed, sought);
  const heldSeconds = Math.min(...deployed.candidates.map((one) => one.heldSeconds));
  return { candidate: best(deployed.candidates, knobs.kind, quality), heldSeconds, cut: deployed.cut };
}

/** Constraints plus the cap on GPUs that the objective sets. */
export const withCapOf = (constraints: PlanConstraints, maxGpus: number, all: number): PlanConstraints =>
  maxGpus < all ? { ...constraints, maxGpus: Math.min(maxGpus, constraints.maxGpus ?? all) } : constraints;
