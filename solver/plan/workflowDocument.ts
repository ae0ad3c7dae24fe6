import { z } from "zod";
import { type NodeGate, nodeGateSchema } from "@/solver/ensemble/gate/nodeGate";
import { machineName, oneLine } from "@/solver/wording/names";

/** Maximum number of agents of a declared workflow, and of its configurations: one of k models for each that is free. */
export const MOST_AGENTS = 16;
export const MOST_CONFIGURATIONS = 3 ** 8;

/** One word that headers and paths can carry. */
const word = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    "is one word of at most 63 letters, digits, dots, dashes and underscores that begins with a letter or a digit",
  );

const agentSchema = z.strictObject({
  name: word,
  /** Agents whose answers it reads, all of them declared before it; left out: it begins with the program. */
  reads: z.array(word).max(MOST_AGENTS).default([]),
  /** The effect of its answer on the program's; `workflow.ts` has the parts. Used only for modelled outcomes. */
  part: z.enum(["helps", "solves", "checks", "revises", "votes", "joins"]).default("solves"),
  /** Models it may run on; left out: any. */
  models: z.array(machineName).min(1).max(16).optional(),
  /** An agent declared before it, whose model it always uses. */
  sameModelAs: word.optional(),
  /** Its system prompt where Weir runs the workflow itself. */
  instructions: z.string().max(20_000).default(""),
  /** Maximum number of tokens that it may write there. */
  maxTokens: z.int().min(1).max(1_000_000).optional(),
  /** Where the answers it reads agree, it is not called, and the leading one is its output; left out: it is always called. */
  skip: nodeGateSchema.optional(),
});

/** A declared workflow: a graph of agents without loops, each after those whose answers it reads, and the models that may run each. */
export const workflowDocumentSchema = z
  .strictObject({
    apiVersion: z.literal("weir/v1").default("weir/v1"),
    kind: z.literal("Workflow").default("Workflow"),
    /** Its name in headers, plans and paths. */
    name: word,
    title: oneLine.max(120).default(""),
    agents: z.array(agentSchema).min(1).max(MOST_AGENTS),
  })
  .superRefine(({ agents }, context) => {
    const before = new Set<string>();
    for (const [at, { name, reads, sameModelAs, models, part, skip }] of agents.entries()) {
      const fail = (field: string, message: string) => context.addIssue({ code: "custom", path: ["agents", at, field], message });
      if (before.has(name)) fail("name", `${name} is declared twice`);
      const unknown = reads.find((read) => !before.has(read));
      if (unknown !== undefined) fail("reads", `${name} reads ${unknown}, which is not declared before it`);
      if (new Set(reads).size < reads.length) fail("reads", `${name} reads an agent twice`);
      if (sameModelAs !== undefined && !before.has(sameModelAs))
        fail("sameModelAs", `${name} has the model of ${sameModelAs}, which is not declared before it`);
      if (sameModelAs !== undefined && models !== undefined)
        fail("models", `${name} has the model of ${sameModelAs}: say there which it may be`);
      const notCompared = skip === undefined ? null : incomparable({ name, reads, part }, agents);
      if (notCompared !== null) fail("skip", notCompared);
      const stranger = weighedBy(skip).find((weighed) => !reads.includes(weighed));
      if (stranger !== undefined) fail("skip", `${name} weighs the votes of ${stranger}, whose answer it does not read`);
      before.add(name);
    }
  });

/** Parts whose answers are whole answers to the program's question. */
const ANSWERING: ReadonlySet<string> = new Set(["solves", "revises", "votes", "joins"]);

/** Why the answers that an agent reads cannot be compared, so that it cannot be skipped where they agree; null: they can. */
function incomparable(
  { name, reads, part }: Pick<z.infer<typeof agentSchema>, "name" | "reads" | "part">,
  agents: readonly z.infer<typeof agentSchema>[],
): string | null {
  if (reads.length < 2) return `${name} reads ${reads.length === 0 ? "no answer" : "one answer"}: only two or more can agree`;
  if (part !== "votes")
    return `${name} is no vote on what it reads (part "votes"): its own answer is another than those, even where they agree`;
  const other = agents.find((agent) => reads.includes(agent.name) && !ANSWERING.has(agent.part));
  return other === undefined
    ? null
    : `${name} reads ${other.name}, which ${other.part === "helps" ? "plans" : "checks"} and does not answer: it cannot be compared with an answer`;
}

/** The agents whose votes a gate gives weights to. */
function weighedBy(skip: NodeGate | undefined): readonly string[] {
  const { confidence } = skip ?? {};
  if (confidence === undefined || confidence.kind === "plurality") return [];
  return Object.keys(confidence.kind === "accuracy-weighted" ? confidence.accuracy : confidence.meanTokens);
}

export type WorkflowDocument = z.infer<typeof workflowDocumentSchema>;
export type WorkflowAgent = WorkflowDocument["agents"][number];
