import { z } from "zod";
import { confidenceSchema, extractionSchema } from "./ensembleDocument";
import { decideGate, type Vote } from "./gate";
import { extractionProblem } from "./voteReader";

/**
 * The agreement gate of a workflow's node, which is skipped where the answers that it reads agree (MOSAIC, section 4.2, equation 11, for any
 * node that reads several answers to one question). Weights of votes are by the names of the agents that it reads.
 */
export const nodeGateSchema = z
  .strictObject({
    extraction: extractionSchema,
    confidence: confidenceSchema.default({ kind: "plurality" }),
    /** The node is skipped where the leading answer has at least this share of the votes. */
    tau: z.number().gt(0).max(1),
  })
  .superRefine(({ extraction }, context) => {
    const problem = extractionProblem(extraction);
    if (problem !== null) context.addIssue({ code: "custom", path: ["extraction", "pattern"], message: problem });
  });
export type NodeGate = z.infer<typeof nodeGateSchema>;

/** What happens to a node whose inputs are all there. */
export type NodeDecision =
  /** Its output is the answer of `agent`, the leading one that it would have read. */
  | { readonly kind: "skip-node"; readonly agent: string; readonly confidence: number; readonly votes: string }
  | { readonly kind: "run-node"; readonly confidence: number; readonly votes: string };

/**
 * Whether a node is skipped, by the votes of all the answers that it reads, in the order in which it names them. The same rule decides in
 * the simulator and in the gateway.
 */
export function decideNode({ confidence: weights, tau }: Pick<NodeGate, "confidence" | "tau">, read: readonly Vote[]): NodeDecision {
  const asked = read.map(({ expert }) => expert);
  const { kind, leading, confidence, votes } = decideGate(read, { asked, confidence: weights, tau });
  if (kind === "aggregate" || leading === null) return { kind: "run-node", confidence, votes };
  return { kind: "skip-node", agent: leading.expert, confidence, votes };
}
