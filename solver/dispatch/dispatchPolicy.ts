import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { engineFigures } from "@/solver/lab/engineFigures";
import { mean } from "@/solver/numeric/quantile";
import { MOST_TAU } from "@/solver/plan/planSlack";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { DispatchAllocation } from "./dispatchExploration";

/** What a slack dispatch policy states of its engines and models, read from the planning sample. */
export interface DispatchEngines {
  readonly explorer: Pick<Explorer, "input">;
  readonly allocation: DispatchAllocation;
}

/**
 * Slack dispatch (Chimera, algorithm 1) on the engines of an allocation. Decode times and batches are those of the engine model at the mean
 * lengths of the planning prompts, a model's stated confidence is its mean label on them, and loads below one unloaded request of the
 * fastest model count as it. Requests leave in order of arrival.
 *
 * @param range the approved range of tau; left out: tau alone, as a simulation needs no other.
 * @param learnt hash of the predictor of confidence; undefined: confidence is stated.
 */
export function dispatchPolicy(
  { explorer, allocation }: DispatchEngines,
  {
    tau,
    range = { min: tau, max: tau },
    learnt,
  }: { readonly tau: number; readonly range?: { min: number; max: number }; readonly learnt?: string | undefined },
): SlackPolicy {
  const { sample } = explorer.input;
  const figures = allocation.models.map((model, position) => {
    const replicas = (allocation.replicas[position] ?? []).map(({ gpu, shape, count }) => ({
      replica: replicaOf(explorer, model, { gpu, shape }),
      count,
    }));
    const output = mean(sample.outputTokens[model] ?? []);
    return {
      model,
      output,
      ...engineFigures({ model: sample.models[model] ?? "", replicas }, { input: mean(sample.inputTokens), output }),
    };
  });
  return {
    kind: "slack",
    models: figures.map(({ model, output, decodeSecondsPerToken, maxBatchSize }) => ({
      ...{ model: sample.models[model] ?? "", decodeSecondsPerToken, maxBatchSize },
      confidence: mean(sample.label[model] ?? []) / 100,
      meanOutputTokens: output,
    })),
    tau,
    deltaScore: 0,
    floorSeconds: Math.min(...figures.map(({ unloadedSeconds }) => unloadedSeconds)),
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    ...(learnt === undefined ? {} : { learnt: { confidence: learnt } }),
    approvedRanges: { tau: { min: range.min, max: Math.min(MOST_TAU, range.max) }, deltaScore: { min: 0, max: 0 } },
  };
}

/** The engine model of a shape of a model. @throws where the explorer has no such shape. */
export function replicaOf(
  { input: { shapes, sample } }: Pick<Explorer, "input">,
  model: number,
  { gpu, shape }: Pick<DispatchAllocation["replicas"][number][number], "gpu" | "shape">,
): ReplicaModel {
  const found = shapes[model]?.find((one) => one.gpu === gpu && one.shape.tp === shape.tp && one.shape.pp === shape.pp);
  if (found === undefined) throw new Error(`no replica of ${sample.models[model]} with tp ${shape.tp} and pp ${shape.pp} on ${gpu}`);
  return found.replica;
}
