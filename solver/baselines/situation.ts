import { placeReplicas } from "../cascade/deploy/placeReplicas";
import type { Explorer } from "../cascade/explore/explorer";
import type { OutcomeTable } from "../workload/workload";
import { type Baseline, gpusOf, type System } from "./system";

/** A baseline's planning inputs: the planner's own explorer (sample, tables, shapes, rate, GPUs) and the floor of all systems. */
export interface BaselineSituation {
  readonly explorer: Explorer;
  /** Must hold for the lower confidence bound of quality, as in the planner. */
  readonly floor: number;
  readonly nodes: readonly { readonly name: string; readonly gpus: number }[];
  /** The whole outcome table; its planning half is the explorer's sample. */
  readonly outcomes: OutcomeTable;
  /** Rows of the planning half. */
  readonly planning: Int32Array;
  /** Rows of the traffic that a complexity-blind system was profiled on; left out: as many planning prompts of each category. */
  readonly profiled?: Int32Array;
}

/** A system once its replicas are placed on nodes, or the sentence that says they do not fit. */
export function placed(system: System, nodes: BaselineSituation["nodes"]): Baseline {
  const replicas = system.stages.flatMap(({ replicas: own }) =>
    own.flatMap(({ shape, count }) => Array.from({ length: count }, () => shape)),
  );
  if (
    placeReplicas(
      replicas.map((shape, key) => ({ key, shape })),
      nodes,
    ) !== null
  )
    return { outcome: "system", system };
  return { outcome: "none", name: system.name, reason: `Its replicas on ${gpusOf(system)} GPUs do not fit the nodes.` };
}
