import { z } from "zod";
import { type GateDocument, gateSchema, simpleGatesOf } from "@/solver/gates/gateDocument";
import { machineName, oneLine } from "@/solver/wording/names";
import { judgeVariationSchema } from "../judging/judgeTime";
import { deprecatedFields, readingOldNames } from "./deprecatedFields";
import { directStartSchema, predictorHash } from "./directStart";
import { gatesFault } from "./gatesFault";
import { workflowDocumentSchema } from "./workflowDocument";

const fraction = z.number().min(0).max(1);

/**
 * Which judge scores answers, and the cost of a call. Where no gate of the policy asks it, it is never called, and no engine or endpoint of
 * it is required: `whenDown` alone still counts, for answers that a gate cannot score.
 */
const judgeSchema = z.object({
  /** Of a judge outside of the deployment: the name that its server gives it. */
  model: oneLine.min(1),
  /** For a judge as a separate engine: the mean predicted for its load. */
  secondsPerCall: z.number().nonnegative(),
  usdPerCall: z.number().nonnegative(),
  /** Variation of the time of a judge outside of this deployment about `secondsPerCall`; left out: none. */
  variation: judgeVariationSchema.optional(),
  /** How an answer without a score of its gate is treated: accepted (left out), or requested again from the last stage's model. */
  whenDown: z.enum(["accept", "largest"]).optional(),
  /**
   * If the judge is an engine of this deployment: the tokens that a call adds to the prompt and the answer it reads, and those it writes.
   */
  engine: z.object({ rubricTokens: z.int().nonnegative(), outputTokens: z.int().positive() }).optional(),
});

/**
 * Releases of other work from its queue after which waiting work goes before all later work. Well above the usual length of a queue:
 * in a longer one nearly all work has aged, and leaves in order of arrival.
 */
const agingThreshold = z.int().min(1).max(10_000);

/** Which of a model's queued requests leaves first. All but the first age: `releaseQueue.ts` states the bound on waiting. */
const orderSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("fcfs") }),
  /** Shortest job first, by the request's own output. */
  z.object({ kind: z.literal("sjf"), agingThreshold }),
  /** Shortest total job first, by the tokens that the request and everything after it in its program have yet to write. */
  z.object({ kind: z.literal("stjf"), agingThreshold }),
  /** First the agent whose programs end soonest, from learnt workflows; within an agent the program that began first (Kairos). */
  z.object({ kind: z.literal("workflow"), agingThreshold }),
  /** First the program with the fewest calls yet to make, from learnt workflows (Ayo). */
  z.object({ kind: z.literal("depth"), agingThreshold }),
  /** Multi-level feedback: a program moves down one level with each quantum of service it has received. */
  z.object({ kind: z.literal("mlfq"), quantaSeconds: z.array(z.number().positive()).min(1).max(32), agingThreshold }),
]);

/** Which replica of its model a request goes to. */
const placeSchema = z.object({
  kind: z.enum(["round-robin", "least-load", "lowest-kv", "time-slots"]),
  /** A program returns to its last replica unless that is more loaded than the best by this ratio (0.5: by half). */
  affinity: z.object({ ratio: z.number().nonnegative() }).optional(),
});

/** Predictors by the SHA-256 of their artefacts: of lengths for the order and for loads, of confidence for the route. */
const learntSchema = z.object({ lengths: predictorHash.optional(), confidence: predictorHash.optional() });

const queueing = { order: readingOldNames(orderSchema, deprecatedFields.order), place: placeSchema, learnt: learntSchema.optional() };

/**
 * Cascade by thresholds: stage i's answer is accepted when the score of its gate is >= thresholds[i]; the last always is. Answers of a stage
 * with the threshold 0 get no score.
 */
export const cascadePolicySchema = z
  .object({
    kind: z.literal("cascade"),
    stages: z.array(z.object({ model: machineName })).min(1),
    thresholds: z.array(z.int().min(0).max(100)),
    judge: judgeSchema,
    /** What scores the answers of each stage but the last; left out: the judge, at every stage. */
    gates: z.array(gateSchema).optional(),
    /** Left out: every request starts at the first stage. */
    directStart: directStartSchema.optional(),
    ...queueing,
    /** The range inside which an operator may change each threshold without a new approval. */
    approvedRanges: z.object({ thresholds: z.array(z.object({ min: z.int().min(0).max(100), max: z.int().min(0).max(100) })) }),
  })
  .superRefine(({ stages, thresholds, gates, directStart }, context) => {
    const fault = gatesFault({ stages, gates });
    if (fault !== null) context.addIssue({ code: "custom", path: ["gates"], message: fault });
    const wanted = stages.length - 1;
    const refuse = (path: string[], what: string, found: number): void =>
      context.addIssue({ code: "custom", path, message: `${stages.length} stages need ${wanted} ${what}, found ${found}` });
    if (thresholds.length !== wanted) refuse(["thresholds"], "thresholds", thresholds.length);
    const below = directStart?.below;
    if (typeof below === "object" && below.length !== wanted) refuse(["directStart", "below"], "router scores to start at", below.length);
  });

/** Every request to one model. */
const fixedPolicySchema = z.object({ kind: z.literal("fixed"), model: machineName, ...queueing });

const approvedRange = z.object({ min: z.number().nonnegative(), max: z.number().nonnegative() });

/** Slack dispatch (Chimera, algorithm 1): the most confident model whose load is within a slack of the least loaded one's. */
const slackPolicySchema = z.object({
  kind: z.literal("slack"),
  models: z
    .array(
      z.object({
        model: machineName,
        decodeSecondsPerToken: z.number().positive(),
        maxBatchSize: z.int().positive(),
        /** Confidence that it solves a request without a router's score. */
        confidence: fraction,
        /** Output tokens that a request counts as where nothing predicts them; left out: its input tokens. */
        meanOutputTokens: z.number().positive().optional(),
      }),
    )
    .min(2),
  /** A model's load may be (1 + tau) times the least. */
  tau: z.number().nonnegative(),
  /** Minimum excess of confidence over the least loaded model for another to be preferred to it. */
  deltaScore: fraction,
  /** A program may go to another model between its requests, when its own is beyond the slack; left out, as in comparisons: never. */
  changesModel: z.literal(true).optional(),
  /** Loads below it count as it: usually one unloaded request's decode time. 0, as in the source, leaves no slack next to an idle model. */
  floorSeconds: z.number().nonnegative(),
  ...queueing,
  /** The ranges inside which an operator may change the two knobs without a new approval. */
  approvedRanges: z.object({ tau: approvedRange, deltaScore: approvedRange }),
});

/**
 * Every request to the model with the least waiting and running, as vLLM balances over engines, whatever they answer: `balancedRoute.ts`.
 */
const balancedPolicySchema = z.object({
  kind: z.literal("balanced"),
  /** Of a replica's requests in flight, those above `maxBatchSize` wait inside it. */
  models: z.array(z.object({ model: machineName, maxBatchSize: z.int().positive() })).min(1),
  ...queueing,
});

/** A model for each agent of a workflow, by name. */
const configurationSchema = z.record(z.string().min(1), machineName);

/**
 * The rule by which requests of workflows get their models: Aragog's rounds, and the systems it is compared with, each choosing among the
 * configurations that are predicted to be accurate for the request.
 */
const selectionSchema = z.discriminatedUnion("kind", [
  /** All waiting requests together, in rounds, by a beam search that keeps this number of partial assignments; 1 is greedy. */
  z.object({ kind: z.literal("beam"), width: z.int().min(1).max(64) }),
  /** The same by trying every assignment of the eight oldest. */
  z.object({ kind: z.literal("exhaustive") }),
  /** One configuration for all requests of a workflow, by its name (per-workflow). */
  z.object({ kind: z.literal("fixed"), configurations: z.record(z.string().min(1), configurationSchema) }),
  /** The cheapest accurate one, chosen when the program arrives (per-input). */
  z.object({ kind: z.literal("cheapest") }),
  /**
   * The one with the least latency under the current load, chosen when the program arrives (per-input+), or again at each stage
   * (per-input++).
   */
  z.object({ kind: z.literal("quickest"), when: z.enum(["arrival", "stage"]) }),
]);

/** Just-in-time configuration of workflow stages (Aragog): a stage's model is chosen when an engine has room for it. */
const justInTimePolicySchema = z.object({
  kind: z.literal("just-in-time"),
  /** Smallest first. A request of no declared workflow goes to the last. */
  models: z
    .array(
      z.object({
        model: machineName,
        /** Cost of a token relative to the other models: billions of active parameters. */
        cost: z.number().positive(),
        /**
         * Requests in flight beyond which a replica's throughput no longer rises, or its sequences or KV cache are used up: its maximum.
         */
        saturationBatch: z.int().min(1).max(4096),
        /** Output tokens a second of one replica with this number of requests in flight; ascending, the last at `saturationBatch`. */
        throughput: z
          .array(z.object({ batch: z.int().positive(), tokensPerSecond: z.number().positive() }))
          .min(1)
          .max(64),
        /** The limit reached there; left out: not known. */
        endedBy: z.enum(["throughput", "sequences", "memory"]).optional(),
      }),
    )
    .min(1)
    .max(8),
  workflows: z
    .array(
      z.object({
        workflow: workflowDocumentSchema,
        /** Predictor of its accurate configurations, by hash; left out: only that of the largest models is known to be accurate. */
        predictor: predictorHash.optional(),
      }),
    )
    .max(16),
  selection: selectionSchema,
  ...queueing,
});

export const policySchema = z.discriminatedUnion("kind", [
  cascadePolicySchema,
  fixedPolicySchema,
  slackPolicySchema,
  balancedPolicySchema,
  justInTimePolicySchema,
]);

export type PolicyDocument = z.infer<typeof policySchema>;
export type BalancedPolicy = z.infer<typeof balancedPolicySchema>;
export type SlackPolicy = z.infer<typeof slackPolicySchema>;
export type JustInTimePolicy = z.infer<typeof justInTimePolicySchema>;
export type OrderDocument = z.infer<typeof orderSchema>;
export type PlaceDocument = z.infer<typeof placeSchema>;

/** The models that serve under a policy: a cascade's in the order of its stages. */
export function modelsOf(policy: PolicyDocument): string[] {
  switch (policy.kind) {
    case "cascade":
      return policy.stages.map(({ model }) => model);
    case "fixed":
      return [policy.model];
    case "slack":
    case "balanced":
    case "just-in-time":
      return policy.models.map(({ model }) => model);
  }
}

/** What scores the answers of each stage but the last; none where every answer is accepted. */
export function gatesOf(policy: PolicyDocument): readonly GateDocument[] {
  if (policy.kind !== "cascade") return [];
  return policy.gates ?? policy.stages.slice(1).map(() => ({ kind: "judge" as const }));
}

/** The gates that a cascade names, by the model whose answers they score; none where the judge alone is the gate. */
export const gatesByModel = ({ stages, gates = [] }: z.infer<typeof cascadePolicySchema>): Readonly<Record<string, GateDocument>> =>
  Object.fromEntries(gates.flatMap((gate, stage) => (stages[stage] === undefined ? [] : [[stages[stage].model, gate]])));

/** Whether any answer of a cascade gets a score: none at thresholds of 0, which every score reaches. */
export const judgesAny = (thresholds: readonly number[]): boolean => thresholds.some((threshold) => threshold > 0);

/** Whether any of these gates, by stage, may ask the judge: none does at a threshold of 0. */
export const scoresByJudge = (thresholds: readonly number[], gates: readonly GateDocument[]): boolean =>
  gates.some((gate, stage) => (thresholds[stage] ?? 0) > 0 && simpleGatesOf(gate).some(({ kind }) => kind === "judge"));

/** Whether any gate of a policy may ask the judge. */
export const asksJudge = (policy: PolicyDocument): boolean => scoresByJudge(thresholdsOf(policy), gatesOf(policy));

/** The model whose engines in the deployment judge; null where no gate asks a judge, or a judge outside of the deployment is used. */
export const judgeEngineOf = (policy: PolicyDocument): string | null =>
  policy.kind === "cascade" && policy.judge.engine !== undefined && asksJudge(policy) ? policy.judge.model : null;

/** Models that answer for agreement gates alone, in addition to those of the stages. */
export function gatePeersOf(policy: PolicyDocument): string[] {
  const peers = gatesOf(policy).flatMap((gate) =>
    simpleGatesOf(gate).flatMap((each) => (each.kind === "agreement" ? (each.peers ?? []) : [])),
  );
  const served = modelsOf(policy);
  return [...new Set(peers)].filter((peer) => !served.includes(peer));
}

/** The models of which a policy needs engines: those that serve, those that a gate compares with, and the one that judges. */
export function deployedModelsOf(policy: PolicyDocument): string[] {
  const judge = judgeEngineOf(policy);
  return [...new Set([...modelsOf(policy), ...gatePeersOf(policy), ...(judge === null ? [] : [judge])])];
}

/** Whether a plan's figures describe its policy: where models are chosen just in time they are those of the plan that it was made from. */
export const isPredicted = ({ kind }: Pick<PolicyDocument, "kind">): boolean => kind !== "just-in-time";

/** The hash of the predictor of confidence whose scores a policy reads: that of slack dispatch, or of a cascade's trained router. */
export function confidencePredictorOf(policy: PolicyDocument): string | undefined {
  const router = directStartOf(policy)?.router;
  return router?.kind === "trained" ? router.predictor : policy.learnt?.confidence;
}

/** The trained predictors that a policy names, by their hashes. */
export function learntOf(policy: PolicyDocument): readonly string[] {
  const { lengths, confidence: named } = policy.learnt ?? {};
  const confidence = confidencePredictorOf(policy) ?? named;
  const configurations = policy.kind === "just-in-time" ? policy.workflows.map(({ predictor }) => predictor) : [];
  return [...new Set([lengths, confidence, ...configurations])].filter((hash) => hash !== undefined);
}

/** The score at which a stage's answer is accepted, one per stage but the last; none where answers are not judged. */
export const thresholdsOf = (policy: PolicyDocument): readonly number[] => (policy.kind === "cascade" ? policy.thresholds : []);

/** How requests may start at a later stage; undefined where all start at the first, or where there are no stages. */
export const directStartOf = (policy: PolicyDocument): z.infer<typeof cascadePolicySchema>["directStart"] =>
  policy.kind === "cascade" ? policy.directStart : undefined;
