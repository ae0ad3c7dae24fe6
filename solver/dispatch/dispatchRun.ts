import { mostInFlight } from "@/solver/cascade/deploy/finalist";
import { WARM_UP_SHARE } from "@/solver/cascade/deploy/wholeSimulation";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ClusterOutcome } from "@/solver/cluster/clusterOutcome";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import type { RequestSample, Workload } from "@/solver/workload/workload";
import type { DispatchAllocation } from "./dispatchExploration";
import { replicaOf } from "./dispatchPolicy";

/** The traffic of simulations: one draw of planning prompts for all of them, so that they differ only in what is compared. */
export interface DispatchTraffic {
  readonly sample: RequestSample;
  readonly outcomes: Workload["outcomes"];
  /** Rows of the planning prompts. */
  readonly planning: Int32Array;
  /** Position in `planning` of a row; -1 for others. */
  readonly positionOf: Int32Array;
}

/** The outcome of slack dispatch on some engines. */
export interface DispatchRun {
  readonly outcome: ClusterOutcome;
  /** Requests at the start that are left out: they arrive while the cluster fills up. */
  readonly warmUp: number;
  /** Mean label of the answers to each planning prompt, 0..100; NaN for a prompt that was not drawn. */
  readonly accepted: Float64Array;
  /** Share of the requests that each model of the allocation answered. */
  readonly share: readonly number[];
  /** Whether every request was answered by the model of the highest confidence. */
  readonly allMostConfident: boolean;
}

/** Requests at a rate on planning prompts, as plans are simulated. */
export function dispatchTraffic(explorer: Pick<Explorer, "input">, workload: Workload, requests: number): DispatchTraffic {
  const { requestsPerSecond, seed } = explorer.input;
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const positionOf = new Int32Array(workload.outcomes.promptIds.length).fill(-1);
  for (const [position, row] of planning.entries()) positionOf[row] = position;
  const sample = drawSample(workload, { part: "planning", requestsPerSecond, requests, seed });
  return { sample, outcomes: workload.outcomes, planning, positionOf };
}

/** Simulates a policy on the engines of an allocation; null when requests are left unserved. */
export function runDispatch(
  explorer: Pick<Explorer, "input" | "tables">,
  { sample, outcomes, planning, positionOf }: DispatchTraffic,
  { policy, allocation }: { readonly policy: SlackPolicy; readonly allocation: DispatchAllocation },
): DispatchRun | null {
  const requests = sample.arrivalSeconds.length;
  const outcome = simulateCluster({
    policy: buildPolicy(policy),
    replicas: replicasOf(explorer, allocation),
    sample,
    outcomes,
    judgeSeconds: 0,
  });
  if (outcome.unserved > 0) return null;
  const warmUp = Math.floor(WARM_UP_SHARE * requests);
  const sums = new Float64Array(planning.length);
  const draws = new Float64Array(planning.length);
  const answered = new Float64Array(allocation.models.length);
  for (let request = warmUp; request < requests; request += 1) {
    const position = positionOf[sample.prompt[request] ?? 0] ?? -1;
    sums[position] = (sums[position] ?? 0) + (outcome.quality[request] ?? 0);
    draws[position] = (draws[position] ?? 0) + 1;
    const stage = outcome.finalStage[request] ?? 0;
    answered[stage] = (answered[stage] ?? 0) + 1;
  }
  const surest = surestModels(policy, outcomes);
  return {
    outcome,
    warmUp,
    allMostConfident: outcome.finalStage.every((stage, request) => stage === surest(sample.prompt[request] ?? 0)),
    accepted: sums.map((sum, position) => sum / (draws[position] ?? 0)),
    share: Array.from(answered, (count) => count / (requests - warmUp)),
  };
}

/** The model of a policy with the highest confidence for a prompt: by the router's score, or as stated where there is none. */
function surestModels({ models }: SlackPolicy, outcomes: Workload["outcomes"]): (prompt: number) => number {
  const scores = models.map(({ model }) => outcomes.models.find((own) => own.model === model)?.routerScore);
  return (prompt) =>
    models.reduce((best, _, model) => {
      const of = (at: number): number => scores[at]?.[prompt] ?? 100 * (models[at]?.confidence ?? 0);
      return of(model) > of(best) ? model : best;
    }, 0);
}

/** The requests that each replica of a model may hold at once, as its cache allows for requests of mean length. */
export function maxInFlight(
  { input, tables }: Pick<Explorer, "input" | "tables">,
  model: number,
  of: Parameters<typeof replicaOf>[2],
): number {
  const replica = replicaOf({ input }, model, of);
  const heldTokens = tables.heldTokens(model, everything(input));
  return Math.max(1, Math.min(mostInFlight([{ replica }]), Math.floor(replica.kvTokens / heldTokens)));
}

/** The mix of all planning prompts: slack dispatch may send any of them to any model. */
export const everything = ({ sample }: Explorer["input"]) => ({
  prompts: Int32Array.from({ length: sample.prompts }, (_, prompt) => prompt),
  share: 1,
});

function replicasOf(explorer: Pick<Explorer, "input" | "tables">, { models, replicas }: DispatchAllocation): ClusterReplica[] {
  return models.flatMap((model, position) =>
    (replicas[position] ?? []).flatMap((of) => {
      const name = explorer.input.sample.models[model] ?? "";
      const one = { model: name, replica: replicaOf(explorer, model, of), maxInFlight: maxInFlight(explorer, model, of) };
      return Array.from({ length: of.count }, (_, index) => ({ ...one, id: `${name} ${of.gpu} ${of.shape.tp}x${of.shape.pp} ${index}` }));
    }),
  );
}
