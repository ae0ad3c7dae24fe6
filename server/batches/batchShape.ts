import { batchEngineId } from "@/server/contracts/engine/batchEngines";
import type { BatchSession } from "@/server/contracts/studio/batches";
import type { BatchStage, StoredBatch } from "@/server/store/batchRepository";
import type { Placement } from "@/solver/plan/clusterSpec";

/** A session of a batch: one load of a model on a worker, and its questions there. */
export interface ShapedSession {
  readonly stage: BatchStage;
  readonly worker: number;
  readonly turn: number;
  readonly model: string;
  readonly placement: Placement;
  /** Id of its engine: the same whenever it is loaded, so that an engine of a killed studio is recognised. */
  readonly engineId: string;
  /** Ascending; null: the questions that the gate leaves undecided, shared among the aggregator's engines. */
  readonly positions: readonly number[] | null;
  /**
   * For an expert's session; null: no prediction, or an aggregator's session, whose stage is predicted by the share of questions that it
   * gets.
   */
  readonly predicted: BatchSession["predicted"];
}

export interface BatchShape {
  /** The experts', worker by worker in turn. */
  readonly workers: readonly (readonly ShapedSession[])[];
  readonly aggregators: readonly ShapedSession[];
  /** In the order of the ensemble. */
  expertsOf(position: number): readonly string[];
}

/** A batch's order as sessions with their engines, and who answers which question. */
export function batchShape({ id, order }: Pick<StoredBatch, "id" | "order">): BatchShape {
  const { ensemble, schedules } = order;
  const placed = schedules.find(({ kind }) => kind === "placed")?.workers ?? [];
  const workers = order.sessions.map((sessions, worker) =>
    sessions.flatMap(({ model, positions }, turn): readonly ShapedSession[] => {
      const placement = order.workers[worker];
      if (placement === undefined) return [];
      const timed = placed[worker]?.find((one) => one.model === model);
      const predicted =
        timed === undefined
          ? null
          : { loadSeconds: timed.readySeconds - timed.fromSeconds, seconds: timed.untilSeconds - timed.readySeconds };
      return [
        {
          stage: "experts",
          worker,
          turn,
          model,
          placement,
          engineId: batchEngineId(id, { stage: "experts", worker, turn }),
          positions,
          predicted,
        },
      ];
    }),
  );
  const aggregators = order.aggregators.map((placement, worker): ShapedSession => {
    const engineId = batchEngineId(id, { stage: "aggregator", worker, turn: 0 });
    return {
      ...{ stage: "aggregator", worker, turn: 0, model: ensemble.aggregator.model, placement, engineId, positions: null, predicted: null },
    };
  });
  // A bit for each expert, of which there are sixteen at most.
  const asked = new Uint16Array(order.questions);
  for (const { model, positions } of workers.flat()) {
    const bit = 1 << ensemble.experts.indexOf(model);
    for (const position of positions ?? []) asked[position] = (asked[position] ?? 0) | bit;
  }
  return {
    ...{ workers, aggregators },
    expertsOf: (position) => ensemble.experts.filter((_, index) => ((asked[position] ?? 0) & (1 << index)) !== 0),
  };
}
