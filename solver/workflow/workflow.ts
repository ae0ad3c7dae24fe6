import type { NodeGate } from "@/solver/ensemble/gate/nodeGate";

/** The effect of an agent's answer on the quality of its program; `programQuality.ts` has the rules. */
export type StagePart = "helps" | "solves" | "checks" | "revises" | "votes" | "joins";

/** One agent's call in a workflow. */
export interface WorkflowStage {
  /** The agent, in one word as headers name it: "planner", "revising-coder". */
  readonly role: string;
  readonly part: StagePart;
  /** Stages, by index and all before it, whose answers are in its prompt: it starts when they are available. Empty: with the program. */
  readonly reads: readonly number[];
  /** Tokens of the agent's own instructions. */
  readonly instructionTokens: number;
  /** Its output tokens relative to a whole answer to the program's prompt: the median over programs. */
  readonly lengthRatio: number;
  /** Standard deviation of the ratio's natural logarithm over programs. */
  readonly lengthSpread: number;
  /** Where the answers it reads agree, it is skipped; left out: never. */
  readonly gate?: Pick<NodeGate, "confidence" | "tau">;
}

/** A shape that some programs of a workflow take: one of its branches, or a number of rounds of its loop. */
export interface WorkflowShape {
  /** Share of the workflow's programs, 0..1. */
  readonly share: number;
  readonly stages: readonly WorkflowStage[];
}

/** A workflow's stages in an order in which each comes after those it reads. */
export interface Workflow {
  /** As headers and plans name it: "planner-coder-qa-coder". */
  readonly name: string;
  /** A description in a few words. */
  readonly title: string;
  readonly stages: readonly WorkflowStage[];
  /**
   * Shapes that programs take instead of `stages`, whose share is the remainder. Left out where all take one shape, and so in a
   * `ProgramSample`: drawn programs have workflows of one shape, and those of one name belong together.
   */
  readonly otherShapes?: readonly WorkflowShape[];
  /** The source of its shape and its ratios. */
  readonly source: string;
}

/** The successors of each stage, ascending: those that read it, and their successors. Parallel stages are not included. */
export function laterStages({ stages }: Pick<Workflow, "stages">): readonly (readonly number[])[] {
  const before: ReadonlySet<number>[] = [];
  for (const { reads } of stages) before.push(new Set(reads.flatMap((read) => [read, ...(before[read] ?? [])])));
  return stages.map((_, stage) => Array.from(before.keys()).filter((other) => before[other]?.has(stage)));
}
