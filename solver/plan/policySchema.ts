import { z } from "zod";
import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { machineName } from "@/solver/wording/names";
import { cascadePolicySchema } from "./cascadePolicy";
import { beamSchema, justInTimePolicySchema, type tokenPriceSchema, worthSchema } from "./justInTimePolicy";
import { queueing } from "./queueing";
import { slackPolicySchema } from "./slackPolicy";

/** Every request to one model. */
const fixedPolicySchema = z.object({ kind: z.literal("fixed"), model: machineName, ...queueing });

/**
 * Every request to the model with the least waiting and running, as vLLM balances over engines, whatever they answer: `balancedRoute.ts`.
 */
const balancedPolicySchema = z.object({
  kind: z.literal("balanced"),
  /** Of a replica's requests in flight, those above `maxBatchSize` wait inside it. */
  models: z.array(z.object({ model: machineName, maxBatchSize: z.int().positive() })).min(1),
  ...queueing,
});

export const policySchema = z.discriminatedUnion("kind", [
  cascadePolicySchema,
  fixedPolicySchema,
  slackPolicySchema,
  balancedPolicySchema,
  justInTimePolicySchema,
]);

/** The rules by which rounds choose models that an operator chooses between: the others are compared with these. */
export const roundChoiceSchema = z.discriminatedUnion("kind", [beamSchema, worthSchema]);
export type RoundChoice = z.infer<typeof roundChoiceSchema>;

/** What each of them is where nothing else is asked: a beam as wide as the source's; a right answer is worth no time, and others' delay what it was best at in simulated mixes (bench/joint). */
export const roundChoices = {
  beam: { kind: "beam", width: 4 },
  worth: { kind: "worth", rightSeconds: 0, delayWeight: 4 },
} as const satisfies { readonly [kind in RoundChoice["kind"]]: RoundChoice };

export type PolicyDocument = z.infer<typeof policySchema>;
export type BalancedPolicy = z.infer<typeof balancedPolicySchema>;
export type SlackPolicy = z.infer<typeof slackPolicySchema>;
export type JustInTimePolicy = z.infer<typeof justInTimePolicySchema>;
/** Prices of models' tokens in rounds by worth. */
export type TokenPriceDocument = z.infer<typeof tokenPriceSchema>;
export type OrderDocument = PolicyDocument["order"];
export type PlaceDocument = PolicyDocument["place"];
/** A policy of single requests: each has a stage before it is sent. */
export type SinglesPolicy = Exclude<PolicyDocument, JustInTimePolicy>;

/** The policy by which requests of no declared workflow are served; null: a just-in-time policy sends them all to its largest model. */
export function singlesPolicyOf(policy: PolicyDocument): SinglesPolicy | null {
  if (policy.kind !== "just-in-time") return policy;
  const { singles, order, place, learnt } = policy;
  return singles === undefined ? null : { ...singles, order, place, ...(learnt && { learnt }) };
}

/** The cascade that a policy serves single requests by; null where it does not. */
export function cascadeOf(policy: PolicyDocument): Extract<PolicyDocument, { kind: "cascade" }> | null {
  const single = singlesPolicyOf(policy);
  return single?.kind === "cascade" ? single : null;
}

/** A policy with another one for requests of no declared workflow: itself, or as part of a just-in-time policy, which has no balancing. */
export function withSinglesPolicy(policy: PolicyDocument, own: SinglesPolicy): PolicyDocument {
  if (policy.kind !== "just-in-time") return own;
  if (own.kind === "balanced") return policy;
  const { order: _, place: __, learnt: ___, ...singles } = own;
  return { ...policy, singles };
}

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

/**
 * The models of the stages at which requests of no declared workflow are served. A just-in-time policy has further stages after them, one for
 * each of its models, for calls of workflows; without a way of its own for single requests it has only those.
 */
export function singleStagesOf(policy: PolicyDocument): string[] {
  const single = singlesPolicyOf(policy);
  return single === null ? [] : modelsOf(single);
}

/** What scores the answers of each stage but the last; none where every answer is accepted. */
export function gatesOf(policy: PolicyDocument): readonly GateDocument[] {
  const cascade = cascadeOf(policy);
  return cascade?.gates ?? cascade?.stages.slice(1).map(() => ({ kind: "judge" as const })) ?? [];
}

/** What scores answers to calls of workflows, by model; none where no score changes later choices. */
export const callGatesOf = (policy: PolicyDocument): NonNullable<JustInTimePolicy["callGates"]> =>
  (policy.kind === "just-in-time" ? policy.callGates : undefined) ?? [];

/** The gates that a cascade names, by the model whose answers they score; none where the judge alone is the gate. */
export const gatesByModel = ({ stages, gates = [] }: z.infer<typeof cascadePolicySchema>): Readonly<Record<string, GateDocument>> =>
  Object.fromEntries(gates.flatMap((gate, stage) => (stages[stage] === undefined ? [] : [[stages[stage].model, gate]])));

/** Whether thresholds alone route a policy's requests: a cascade that does not choose the next model by its expected gain. */
export const isByThresholds = (policy: PolicyDocument): boolean => policy.kind === "cascade" && policy.cascadeRouting === undefined;

/** Whether any answer of a cascade gets a score: none at thresholds of 0, which every score reaches. */
export const judgesAny = (thresholds: readonly number[]): boolean => thresholds.some((threshold) => threshold > 0);

/** Whether any of these gates, by stage, may ask the judge: none does at a threshold of 0. */
export const scoresByJudge = (thresholds: readonly number[], gates: readonly GateDocument[]): boolean =>
  gates.some((gate, stage) => (thresholds[stage] ?? 0) > 0 && simpleGatesOf(gate).some(({ kind }) => kind === "judge"));

/** Whether any gate of a policy may ask the judge. */
export const asksJudge = (policy: PolicyDocument): boolean => scoresByJudge(thresholdsOf(policy), gatesOf(policy));

/** Why a plan of cascade routing is not planned again as it is. */
export const GAIN_NOT_REPEATED =
  "Cascade routing is fitted to the traffic that it was planned for; only thresholds are planned again as they are.";

/** The model whose engines in the deployment judge; null where no gate asks a judge, or a judge outside of the deployment is used. */
export function judgeEngineOf(policy: PolicyDocument): string | null {
  const judge = cascadeOf(policy)?.judge;
  return judge?.engine !== undefined && asksJudge(policy) ? judge.model : null;
}

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

/**
 * The model of the judge's engines that a policy keeps ready: of those that judge, or, where a threshold of 0 leaves nothing to judge, of
 * those that judge as soon as it is raised within its approved range. Plans from before a threshold of 0 meant that nothing is judged deploy
 * such engines.
 *
 * @returns null where no threshold can ask a judge, or a judge outside of the deployment is used.
 */
export function readyJudgeOf(policy: PolicyDocument): string | null {
  const cascade = cascadeOf(policy);
  if (cascade === null || cascade.judge.engine === undefined) return null;
  const raised = cascade.thresholds.map((own, stage) => cascade.approvedRanges.thresholds[stage]?.max ?? own);
  return asksJudge(policy) || scoresByJudge(raised, gatesOf(policy)) ? cascade.judge.model : null;
}

/** The models of a plan whose engines the gateway lists: those that its policy needs, and the judge that it keeps ready. */
export function listedModelsOf({
  policy,
  deployment,
}: {
  readonly policy: PolicyDocument;
  readonly deployment: readonly { readonly model: string }[];
}): string[] {
  const judge = readyJudgeOf(policy);
  const isDeployed = deployment.some(({ model }) => model === judge);
  return [...new Set([...deployedModelsOf(policy), ...(judge !== null && isDeployed ? [judge] : [])])];
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

/** A policy that names a predictor of lengths only where its order or its choice of models reads them: unread, it would only add its time. */
export function withLearntRead<Document extends PolicyDocument>(policy: Document): Document {
  const { learnt, ...rest } = policy;
  const { lengths, ...others } = learnt ?? {};
  const { kind } = policy.order;
  const weighs = policy.kind === "just-in-time" && policy.selection.kind === "worth";
  const reads = weighs || singlesPolicyOf(policy)?.kind === "slack" || kind === "sjf" || kind === "stjf";
  const read = { ...others, ...(reads && lengths !== undefined && { lengths }) };
  return { ...rest, ...(Object.keys(read).length > 0 && { learnt: read }) } as unknown as Document;
}

/** The score at which a stage's answer is accepted, one per stage but the last; none where answers are not judged. */
export const thresholdsOf = (policy: PolicyDocument): readonly number[] => cascadeOf(policy)?.thresholds ?? [];

/** How requests may start at a later stage; undefined where all start at the first, or where there are no stages. */
export const directStartOf = (policy: PolicyDocument): z.infer<typeof cascadePolicySchema>["directStart"] => cascadeOf(policy)?.directStart;
