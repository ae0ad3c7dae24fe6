import { z } from "zod";
import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { machineName } from "@/solver/wording/names";
import { cascadePolicySchema } from "./cascadePolicy";
import { predictorHash } from "./directStart";
import { queueing } from "./queueing";
import { workflowDocumentSchema } from "./workflowDocument";

const fraction = z.number().min(0).max(1);

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
export type OrderDocument = PolicyDocument["order"];
export type PlaceDocument = PolicyDocument["place"];

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

/** Whether thresholds alone route a policy's requests: a cascade that does not choose the next model by its expected gain. */
export const isByThresholds = (policy: PolicyDocument): boolean => policy.kind === "cascade" && policy.cascadeRouting === undefined;

/** Whether any answer of a cascade gets a score: none at thresholds of 0, which every score reaches. */
export const judgesAny = (thresholds: readonly number[]): boolean => thresholds.some((threshold) => threshold > 0);

/** Whether any gate of a policy may ask the judge. */
export const asksJudge = (policy: PolicyDocument): boolean =>
  gatesOf(policy).some((gate, stage) => (thresholdsOf(policy)[stage] ?? 0) > 0 && simpleGatesOf(gate).some(({ kind }) => kind === "judge"));

/**
 * Whether the judge's own scores decide at every stage, as planners simulate it: a workload holds no scores of other gates, or of a calibrated
 * judge, to route its prompts by.
 */
export const routesByJudgedScores = (policy: PolicyDocument): boolean =>
  gatesOf(policy).every((gate) => gate.kind === "judge" && gate.calibration === undefined);

/** Why nothing predicts a policy whose gates are not the judge alone. */
export const GATES_NOT_SIMULATED = "The policy has gates that are not the judge alone, and only a judge is simulated.";

/** Why a plan of cascade routing is not planned again as it is. */
export const GAIN_NOT_REPEATED =
  "Cascade routing is fitted to the traffic that it was planned for; only thresholds are planned again as they are.";

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
