import type { DeploymentProblem, ReplicaOption } from "./problem";

/** Replicas of one option with the same layout: in `blocks` equal blocks of GPUs, each block inside one node. */
export interface ReplicaKind {
  readonly stage: number;
  readonly option: ReplicaOption;
  readonly blocks: number;
  readonly blockGpus: number;
  /** Requests per second of one replica within the limit, as a share of the stage's load. */
  readonly share: number;
}

/**
 * The kinds of new replicas that a deployment may have. Those that several smaller replicas on the same GPUs dominate are left out,
 * unless replicas are compared with the running ones.
 *
 * @param shareOf the share of its load that one replica of a stage sustains; 0 for one that is too slow.
 */
export function replicaKinds(
  { stages, constraints }: DeploymentProblem,
  shareOf: (stage: number, option: ReplicaOption) => number,
  counted: boolean,
): readonly ReplicaKind[] {
  return stages.flatMap(({ model, options }, stage) => {
    if (constraints.excluded.includes(model)) return [];
    const wanted = constraints.shapes.filter((shape) => shape.model === model);
    const kinds = options.flatMap((option): ReplicaKind[] => {
      const { tp, pp } = option.shape;
      const share = shareOf(stage, option);
      if (share <= 0 || wanted.some((shape) => shape.tp !== tp || shape.pp !== pp)) return [];
      const gpus = tp * pp;
      const parts = constraints.surviveNodeLoss ? [1, 2, 4, 8, 16, 32].filter((count) => count <= pp) : [pp];
      return parts.map((blocks) => ({ stage, option, blocks, blockGpus: gpus / blocks, share }));
    });
    if (counted) return kinds;
    return kinds.filter((kind, index) => !kinds.some((other, otherIndex) => outdoes(other, kind, otherIndex < index)));
  });
}

/** Whether replicas of one kind, placed on the GPUs of one replica of another, sustain as much and lose no more with any node. */
function outdoes(one: ReplicaKind, other: ReplicaKind, first: boolean): boolean {
  if (one === other || one.option.gpu !== other.option.gpu || one.blockGpus > other.blockGpus) return false;
  const copies = (other.blocks * other.blockGpus) / (one.blocks * one.blockGpus);
  if (copies < 1 || !(one.blocks === 1 || one.blocks === other.blocks)) return false;
  const gain = copies * one.share - other.share;
  return gain > 0 || (gain === 0 && (first || copies > 1));
}
