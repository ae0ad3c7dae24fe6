import { placeReplicas } from "../cascade/deploy/placeReplicas";
import type { Explorer } from "../cascade/explore/explorer";
import type { OutcomeTable } from "../workload/workload";
import { type Baseline, deployedBy, gpusOf, type ReplicaChoice, type System, type SystemStage } from "./system";

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

/**
 * A cascade's part of a system, with the gates and the judge's engines that the explorer plans with.
 *
 * @param deployed its stages and, after them, a judge's engines and the peers that its gates ask.
 */
export function gatedCascade(
  { input: { gates, judgeEngine } }: Explorer,
  { stages, thresholds }: { readonly stages: readonly number[]; readonly thresholds: readonly number[] },
  deployed: readonly SystemStage[],
): Pick<System, "stages" | "peers" | "judge" | "routing"> {
  const beside = deployed.slice(stages.length);
  const judging = beside.find(({ model }) => model === judgeEngine?.model);
  return {
    stages: deployed.slice(0, stages.length),
    ...(gates === undefined ? {} : { peers: beside.filter((own) => own !== judging) }),
    ...(judging === undefined || judgeEngine === undefined
      ? {}
      : { judge: { engines: judging, rubricTokens: judgeEngine.rubricTokens, outputTokens: judgeEngine.outputTokens } }),
    routing: { kind: "cascade", thresholds, ...(gates === undefined ? {} : { gates: gates.stages }) },
  };
}

/** The replicas that can serve an explorer's models, a judge of its own engines and the peers of gates. */
export function choiceOf({ input: { sample, shapes, gates, judgeEngine } }: Explorer): ReplicaChoice {
  const beside = [...(judgeEngine === undefined ? [] : [judgeEngine]), ...(gates?.peers ?? [])];
  return {
    models: [...sample.models, ...beside.map(({ model }) => model)],
    shapes: [...shapes, ...beside.map((engines) => engines.shapes)],
  };
}

/** A system once its replicas are placed on nodes, or the sentence that says they do not fit. */
export function placed(system: System, nodes: BaselineSituation["nodes"]): Baseline {
  const replicas = deployedBy(system).flatMap(({ replicas: own }) =>
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
