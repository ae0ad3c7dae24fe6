import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { meanThroughputCurve, type ServedRequests, throughputCurve } from "@/solver/engine/throughputCurve";
import { mean } from "@/solver/numeric/quantile";
import type { JustInTimePolicy, RoundChoice } from "@/solver/plan/policySchema";
import type { ProfiledModel } from "./modelEngines";
import { type PlannedLoad, plannedPrice } from "./plannedPrice";

/** A model as input of a just-in-time policy. */
export interface JustInTimeModel {
  readonly model: string;
  /** Cost of a token relative to the other models: billions of active parameters. */
  readonly cost: number;
  /** The model of its engines; with several shapes, the number of each. */
  readonly replica: ReplicaModel | readonly { readonly replica: ReplicaModel; readonly count: number }[];
  /** Requests with the lengths of those that it will serve. */
  readonly requests: ServedRequests;
}

export interface JustInTimeParts extends Pick<JustInTimePolicy, "workflows"> {
  readonly models: readonly JustInTimeModel[];
  readonly selection: JustInTimePolicy["selection"] | RoundChoice;
  /** Loads of the models' engines, which a priced choice reads; left out: none is loaded. */
  readonly planned?: readonly PlannedLoad[];
  /** Left out: first come, first served, and the replica with the least load. */
  readonly order?: JustInTimePolicy["order"];
  readonly place?: JustInTimePolicy["place"];
}

/**
 * A just-in-time policy for engines: its models by ascending cost, each with the throughput curve and saturation batch of its own replicas
 * (Aragog, section 3.2). With several shapes of a model, the mean over its replicas is used for each.
 *
 * @throws RangeError when a model's replicas have room for none of its requests.
 */
export function justInTimeDocument({ models, workflows, selection, planned = [], order, place }: JustInTimeParts): JustInTimePolicy {
  const profiled = models
    .map(({ model, cost, replica, requests }) => {
      const shapes = "stepTime" in replica ? [{ replica, count: 1 }] : replica;
      const curves = shapes.map((shape) => ({ curve: throughputCurve(shape.replica, requests), count: shape.count }));
      const { saturationBatch, throughput, endedBy } = meanThroughputCurve(curves);
      return { model, cost, saturationBatch, throughput: [...throughput], endedBy, meanOutputTokens: mean(requests.outputTokens) };
    })
    .sort((a, b) => a.cost - b.cost);
  return {
    kind: "just-in-time",
    models: profiled,
    workflows,
    selection: selectionOf(selection, profiled, planned),
    order: order ?? { kind: "fcfs" },
    place: place ?? { kind: "least-load" },
  };
}

/** The rule of rounds as a policy's document has it: one that an operator asked to be priced gets the prices of the planned loads. */
export function selectionOf(
  asked: JustInTimePolicy["selection"] | RoundChoice,
  models: readonly ProfiledModel[],
  planned: readonly PlannedLoad[],
): JustInTimePolicy["selection"] {
  if (asked.kind !== "worth" || !("priced" in asked)) return asked;
  const { priced, ...weights } = asked;
  return priced === true ? { ...weights, price: plannedPrice(models, planned) } : weights;
}
