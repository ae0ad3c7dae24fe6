import type { LabWorkflow } from "@/server/contracts/studio";

export interface WorkflowPicture {
  /** Size in steps of the grid. */
  readonly columns: number;
  readonly lanes: number;
  readonly nodes: readonly {
    readonly key: number;
    readonly column: number;
    readonly lane: number;
    readonly letter: string;
    readonly role: string;
  }[];
  readonly edges: readonly { readonly key: string; readonly from: number; readonly to: number }[];
  /** The stages in words: "planner, coder, qa, coder". */
  readonly says: string;
}

/** The shapes that programs of a workflow take, each with its share, 0..1, the most common first. */
export function shapesOf({ stages, otherShapes }: Pick<LabWorkflow, "stages" | "otherShapes">): LabWorkflow["otherShapes"] {
  const own = otherShapes.reduce((left, { share }) => left - share, 1);
  return [{ share: own, stages }, ...otherShapes].toSorted((one, other) => other.share - one.share);
}

/** Lays out the drawing of a workflow: a column for each step that must wait for the one before, lanes for parallel stages. */
export function prepareWorkflow({ stages }: Pick<LabWorkflow, "stages">): WorkflowPicture {
  const column: number[] = [];
  const reach: ReadonlySet<number>[] = [];
  for (const { reads } of stages) {
    column.push(reads.reduce((most, before) => Math.max(most, (column[before] ?? 0) + 1), 0));
    reach.push(new Set(reads.flatMap((before) => [before, ...(reach[before] ?? [])])));
  }
  const inColumn = column.map((own, stage) => column.slice(0, stage).filter((each) => each === own).length);
  const count = (own: number) => column.filter((each) => each === own).length;
  const lanes = Math.max(1, ...column.map(count));
  return {
    columns: Math.max(1, ...column.map((own) => own + 1)),
    lanes,
    nodes: stages.map(({ role }, stage) => ({
      key: stage,
      column: column[stage] ?? 0,
      lane: (inColumn[stage] ?? 0) + (lanes - count(column[stage] ?? 0)) / 2,
      letter: (role[0] ?? "?").toUpperCase(),
      role,
    })),
    // Edges only from inputs that none of its other inputs has read already: each agent of a chain reads all before it.
    edges: stages.flatMap(({ reads }, to) =>
      reads.filter((from) => !reads.some((other) => reach[other]?.has(from))).map((from) => ({ key: `${from}-${to}`, from, to })),
    ),
    says: stages.map(({ role }) => role).join(", "),
  };
}
