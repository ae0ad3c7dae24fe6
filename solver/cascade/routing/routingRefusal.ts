import { type StartBelow, startScores, startText } from "@/solver/plan/directStart";

/** A cascade by the names of its models, as an operator sets it. */
export interface NamedRouting {
  readonly models: readonly string[];
  /** One fewer than models, integers 0..100. */
  readonly thresholds: readonly number[];
  /** Router scores from which a request starts at a stage; left out or 0: all start at the first. */
  readonly startBelow?: StartBelow | undefined;
}

/** Why a routing set by hand cannot be planned. */
export type RoutingRefusal =
  | { readonly kind: "unknown-model"; readonly model: string }
  | { readonly kind: "fits-nowhere"; readonly model: string }
  | { readonly kind: "not-ascending" }
  | { readonly kind: "threshold-count" }
  | { readonly kind: "start-count" }
  | { readonly kind: "no-router" }
  /** `stage` is the position of the first stage that no request of the planning prompts reaches. */
  | { readonly kind: "stage-without-requests"; readonly stage: number };

/** The available parts of a cascade. */
export interface Ladder {
  /** Smallest first. */
  readonly models: readonly string[];
  /** Per model: GPUs of its smallest replica; 0 where it fits on none. */
  readonly leastGpus: readonly number[];
  /** Whether a router may start requests at a later stage. */
  readonly router: boolean;
  /** Whether others operate the replicas, and there are no more. */
  readonly fixedTopology: boolean;
}

/** The error in a routing before anything is computed for it; null where there is none. */
export function routingRefusal({ models, thresholds, startBelow = 0 }: NamedRouting, ladder: Ladder): RoutingRefusal | null {
  const stages = models.map((model) => ladder.models.indexOf(model));
  for (const [position, model] of models.entries()) {
    const stage = stages[position] ?? -1;
    if (stage < 0) return { kind: "unknown-model", model };
    if (ladder.leastGpus[stage] === 0) return { kind: "fits-nowhere", model };
  }
  if (stages.some((stage, position) => position > 0 && stage <= (stages[position - 1] ?? -1))) return { kind: "not-ascending" };
  if (thresholds.length !== stages.length - 1) return { kind: "threshold-count" };
  if (startScores(startBelow, stages.length).length !== stages.length - 1) return { kind: "start-count" };
  if (startBelow !== 0 && !ladder.router) return { kind: "no-router" };
  return null;
}

/** The first stage that no request reaches, so that it cannot be sized; null where every stage gets some. */
export function stageWithoutRequests(share: readonly number[]): RoutingRefusal | null {
  const stage = share.indexOf(0);
  return stage < 0 ? null : { kind: "stage-without-requests", stage };
}

/** A refusal in one sentence. */
export function refusalSays(refusal: RoutingRefusal, { models, thresholds, startBelow = 0 }: NamedRouting, ladder: Ladder): string {
  switch (refusal.kind) {
    case "unknown-model":
      return `${refusal.model} is not among the models to plan with: ${ladder.models.join(", ")}.`;
    case "fits-nowhere":
      return ladder.fixedTopology
        ? `No engine of ${refusal.model} that runs fits its GPUs by the cards, so that nothing can be simulated with it.`
        : `${refusal.model} fits on no replica that the GPUs here allow: leave it out.`;
    case "not-ascending":
      return `A cascade goes from the smaller to the larger model: ${models.join(", ")} is not in the order ${ladder.models.join(", ")}.`;
    case "threshold-count":
      return `A cascade of ${models.length} stages needs ${models.length - 1} thresholds, found ${thresholds.length}.`;
    case "start-count":
      return `A cascade of ${models.length} stages needs one router score to start from, or ${models.length - 1}: found ${startText(startBelow)}.`;
    case "no-router":
      return `A start by a router's score of ${startText(startBelow)} needs a router: ask for a direct start, or let all requests start at ${models[0]}.`;
    case "stage-without-requests": {
      const { stage } = refusal;
      if (stage === 0 || startBelow !== 0)
        return `No request reaches ${models[stage]} with these thresholds and this start: change them or leave ${models[stage]} out.`;
      return `Every answer of ${models[stage - 1]} scores ${thresholds[stage - 1]} or more on this workload, so no request reaches ${models[stage]}: raise the threshold or leave ${models[stage]} out.`;
    }
  }
}
