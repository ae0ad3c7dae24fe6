import { z } from "zod";

/**
 * POST `/v1/workflows/{name}/runs`: the gateway runs a workflow of the plan in force itself. Every agent gets a request like a client's,
 * with its instructions as the system message; the user message has the input and the answers it reads, under their agents' names.
 */
export const workflowRunRequestSchema = z.strictObject({
  /** The program's input. */
  input: z.string().min(1).max(1_000_000),
  /** Whether events are sent as they happen (server-sent events), or one document at the end. */
  stream: z.boolean().default(false),
  /** Passed on with every agent's request. */
  temperature: z.number().min(0).max(2).optional(),
  seed: z.int().optional(),
});
export type WorkflowRunRequest = z.infer<typeof workflowRunRequestSchema>;

const usage = { inputTokens: z.int().nullable(), outputTokens: z.int().nullable() };

/** How one agent's request ended. */
const stageDone = z.object({
  agent: z.string(),
  model: z.string(),
  /** Of its record at `/decisions/<id>`. */
  decisionId: z.string(),
  seconds: z.number(),
  ...usage,
  output: z.string(),
});
export type StageDone = z.infer<typeof stageDone>;

/** An agent that was not called, as the answers it would have read agree; its output is that of the leading one. */
const stageSkipped = z.object({
  agent: z.string(),
  decision: z.object({
    kind: z.literal("skip-node"),
    /** Whose answer leads. */
    agent: z.string(),
    /** Share of the votes for it, 0..1. */
    confidence: z.number(),
    /** By answer, most first: `2:1`. */
    votes: z.string(),
  }),
  output: z.string(),
});
export type StageSkipped = z.infer<typeof stageSkipped>;

const runError = z.object({
  message: z.string(),
  code: z.string(),
  agent: z.string().nullable(),
  status: z.int(),
  /** Wall seconds after which to try again, if known. */
  retryAfterSeconds: z.int().optional(),
});
export type RunError = z.infer<typeof runError>;

/** The document at the end; for a failed run its state at that time, and the reason. */
export const workflowRunSchema = z.object({
  id: z.string(),
  object: z.literal("workflow.run"),
  workflow: z.string(),
  status: z.enum(["completed", "failed"]),
  seconds: z.number(),
  stages: z.array(stageDone),
  /** Agents that were not called; left out where no agent of the workflow may be skipped. */
  skipped: z.array(stageSkipped).optional(),
  /** The answer of the agent that is declared last; null if the run did not reach it. */
  output: z.string().nullable(),
  error: runError.nullable(),
});
export type WorkflowRun = z.infer<typeof workflowRunSchema>;

/** Data of the events of a stream, each under its `type` as the event's name; the last is `run.completed` or `run.failed`. */
export type WorkflowRunEvent =
  | { readonly type: "run.started"; readonly id: string; readonly workflow: string; readonly agents: readonly string[] }
  | { readonly type: "stage.started"; readonly agent: string }
  | ({ readonly type: "stage.completed" } & StageDone)
  | ({ readonly type: "stage.skipped" } & StageSkipped)
  | { readonly type: "run.completed" | "run.failed"; readonly run: WorkflowRun };

/** GET `/v1/workflows`: the workflows of the plan in force. */
export const workflowListSchema = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      id: z.string(),
      object: z.literal("workflow"),
      title: z.string(),
      agents: z.array(z.object({ name: z.string(), reads: z.array(z.string()) })),
    }),
  ),
});
