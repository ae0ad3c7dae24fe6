import { z } from "zod";
import {
  configRequestSchema,
  decisionPageSchema,
  decisionSchema,
  gatewayConfigSchema,
  gatewayStatusSchema,
} from "@/server/contracts/gateway/gatewayAdmin";
import {
  canaryRequestSchema,
  canarySchema,
  captureErasedSchema,
  captureErasureSchema,
  capturePageSchema,
  captureRequestSchema,
  captureSchema,
  gatewayAuditPageSchema,
  knobsRequestSchema,
  mirrorRequestSchema,
  mirrorSamplePageSchema,
  mirrorSchema,
  panicRequestSchema,
  panicSchema,
  shadowRequestSchema,
  shadowSchema,
  signatureSchema,
  strictStagesSchema,
} from "@/server/contracts/gateway/gatewayControls";
import { ensembleRequestSchema, gatewayEnsemblesSchema, tauRequestSchema } from "@/server/contracts/gateway/gatewayEnsembles";
import { gatewayKeysSchema, gatewayUsageSchema, keysRequestSchema } from "@/server/contracts/gateway/gatewayKeys";
import { gatewayArtefactSchema, gatewayArtefactsSchema } from "@/server/contracts/gateway/gatewayLearning";
import { gatewayRoundsSchema } from "@/server/contracts/gateway/gatewayRounds";
import { gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { signatureHeader } from "@/server/contracts/gateway/signedOrder";
import { workflowListSchema, workflowRunRequestSchema, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import type { Route } from "./openApi";

const ifMatch = {
  name: "If-Match",
  in: "header",
  required: true,
  description: "The ETag that `GET /config` gave; `none` before the first.",
} as const;
const signed = {
  name: signatureHeader,
  in: "header",
  required: false,
  description: "The studio's signed statement about this order. Not needed only where the gateway trusts no studio (`none`).",
} as const;
const after = { name: "after", in: "query", required: false, description: "Only what came after this sequence number." } as const;
const openAiBody = z.looseObject({ model: z.string() });
const changed = z.object({ etag: z.string(), planId: z.string().optional(), policyHash: z.string().optional() });
const version = z.object({ version: z.string() });

/** The routes of the data port. */
export const dataRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/v1/chat/completions",
    says: "Answers a conversation, as OpenAI does. The model `cascade/default` is the plan in force, `ensemble/NAME` an ensemble, any other name an engine's model.",
    body: openAiBody,
    answer: z.looseObject({ choices: z.array(z.unknown()) }),
    streams: true,
  },
  {
    method: "post",
    path: "/v1/completions",
    says: "Completes a prompt, as OpenAI does.",
    body: openAiBody,
    answer: z.looseObject({ choices: z.array(z.unknown()) }),
    streams: true,
  },
  {
    method: "post",
    path: "/v1/embeddings",
    says: "Embeds texts, by the name of an engine's model.",
    body: openAiBody,
    answer: z.looseObject({ data: z.array(z.unknown()) }),
  },
  {
    method: "post",
    path: "/v1/rerank",
    says: "Ranks documents by their relevance to a query, as vLLM does, by the name of an engine's model.",
    body: openAiBody.extend({ query: z.unknown(), documents: z.unknown(), top_n: z.int().optional() }),
    answer: z.looseObject({ results: z.array(z.unknown()) }),
  },
  {
    method: "post",
    path: "/v1/score",
    says: "Scores pairs of texts, as vLLM does, by the name of an engine's model.",
    body: openAiBody.extend({ text_1: z.unknown(), text_2: z.unknown() }),
    answer: z.looseObject({ data: z.array(z.unknown()) }),
  },
  {
    method: "post",
    path: "/v1/messages",
    says: "Answers a conversation, as Anthropic does: translated to and from chat completions.",
    body: openAiBody.extend({ max_tokens: z.number(), messages: z.array(z.unknown()) }),
    answer: z.looseObject({ type: z.literal("message"), content: z.array(z.unknown()) }),
    streams: true,
  },
  {
    method: "post",
    path: "/v1/messages/count_tokens",
    says: "Counts the tokens of a conversation, where the engines have vLLM's `/tokenize`: of a cascade by the model with the most.",
    body: openAiBody.extend({ messages: z.array(z.unknown()) }),
    answer: z.object({ input_tokens: z.int() }),
  },
  {
    method: "post",
    path: "/v1/responses",
    says: "Answers a conversation, as OpenAI's Responses API does: translated to and from chat completions.",
    body: openAiBody.extend({ input: z.unknown() }),
    answer: z.looseObject({ object: z.literal("response"), output: z.array(z.unknown()) }),
    streams: true,
  },
  {
    method: "get",
    path: "/v1/responses/{id}",
    says: "Reads a response that its API key has stored, where `WEIR_STORED_RESPONSES_MB` is set.",
    answer: z.looseObject({ object: z.literal("response") }),
  },
  {
    method: "delete",
    path: "/v1/responses/{id}",
    says: "Deletes such a response.",
    answer: z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) }),
  },
  {
    method: "get",
    path: "/v1/models",
    says: "Lists the served names, with the endpoints of each and its context length (`max_model_len`) where its engines tell it.",
    answer: z.object({ object: z.literal("list"), data: z.array(z.looseObject({ id: z.string() })) }),
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    says: "Says whether a name is served, and what the list says of it.",
    answer: z.looseObject({ id: z.string() }),
  },
  { method: "get", path: "/v1/workflows", says: "Lists the workflows that the plan in force runs.", answer: workflowListSchema },
  {
    method: "post",
    path: "/v1/workflows/{id}/runs",
    says: "Runs a workflow of the plan in force; with `stream` its events come as they happen.",
    body: workflowRunRequestSchema,
    answer: workflowRunSchema,
    streams: true,
  },
  { method: "get", path: "/health", says: "The process answers.", open: true },
  {
    method: "get",
    path: "/health/ready",
    says: "200 while a configuration is in force and the gateway does not drain, else 503.",
    open: true,
  },
  { method: "get", path: "/version", says: "The version of the gateway.", answer: version, open: true },
];

const control = (path: string, says: string, body: z.ZodType, state: z.ZodType): readonly Route[] => [
  { method: "get", path, says: `Reads ${says}; \`null\` where there is none.`, answer: state.nullable() },
  { method: "put", path, says: `Begins or replaces ${says}.`, query: path === "/panic" ? [] : [signed], body, answer: state.nullable() },
  { method: "delete", path, says: `Ends ${says}.`, body: signatureSchema, answer: state.nullable() },
];

/** The routes of the admin port. */
export const adminRoutes: readonly Route[] = [
  { method: "get", path: "/health", says: "The process answers.", open: true },
  { method: "get", path: "/metrics", says: "Prometheus metrics.", open: true, text: "text/plain" },
  { method: "get", path: "/status", says: "What is in force, what waits, how engines and judge are.", answer: gatewayStatusSchema },
  { method: "get", path: "/decisions", says: "Records of finished requests.", query: [after], answer: decisionPageSchema },
  { method: "get", path: "/decisions/{id}", says: "The record of one request.", answer: decisionSchema },
  { method: "get", path: "/config", says: "The configuration in force, with its ETag.", answer: gatewayConfigSchema },
  {
    method: "put",
    path: "/config",
    says: "Puts a configuration into force.",
    query: [ifMatch, signed],
    body: configRequestSchema,
    answer: changed,
  },
  {
    method: "post",
    path: "/config/validate",
    says: "Says whether a configuration could be put into force.",
    query: [
      {
        name: "with",
        in: "query",
        required: false,
        description: "Hashes of predictors that would be brought before, separated by commas.",
      },
      { name: "encoder", in: "query", required: false, description: "SHA-256, `:` and name of an encoder that would be there." },
    ],
    body: gatewayConfigSchema,
    answer: z.object({ valid: z.literal(true) }),
  },
  {
    method: "patch",
    path: "/knobs",
    says: "Moves live knobs inside their approved ranges.",
    query: [ifMatch, signed],
    body: knobsRequestSchema,
    answer: changed,
  },
  {
    method: "post",
    path: "/rollback",
    says: "Goes back to the configuration before.",
    query: [ifMatch],
    body: signatureSchema,
    answer: changed,
  },
  ...control("/panic", "a panic: every request for text goes to one model", panicRequestSchema, panicSchema),
  ...control("/canary", "a canary: a candidate policy takes a growing share of the programs", canaryRequestSchema, canarySchema),
  ...control("/shadow", "a shadow: a candidate decides without acting", shadowRequestSchema, shadowSchema),
  ...control("/mirror", "a mirror: a share of the requests goes through the stages it did not visit", mirrorRequestSchema, mirrorSchema),
  {
    method: "get",
    path: "/mirror/samples",
    says: "Reads mirrored requests with every model's length and score, at most 1000 a call, oldest first.",
    query: [after],
    answer: mirrorSamplePageSchema,
  },
  ...control("/strict-stages", "strict stages: 503 rather than an answer of a smaller model", signatureSchema, strictStagesSchema),
  { method: "get", path: "/capture", says: "Reads a capture of prompts.", answer: captureSchema },
  {
    method: "put",
    path: "/capture",
    says: "Begins or replaces a capture of prompts.",
    query: [signed],
    body: captureRequestSchema,
    answer: captureSchema,
  },
  {
    method: "delete",
    path: "/capture",
    says: "Ends a capture.",
    query: [{ name: "erase", in: "query", required: false, description: "`1` deletes what is kept too." }],
    body: signatureSchema,
    answer: captureSchema,
  },
  {
    method: "get",
    path: "/captures",
    says: "Prompts that were captured.",
    query: [{ name: "after", in: "query", required: false, description: "`next` of the page before." }],
    answer: capturePageSchema,
  },
  {
    method: "delete",
    path: "/captures",
    says: "Deletes the captured prompts of one key or one user.",
    body: captureErasureSchema,
    answer: captureErasedSchema,
  },
  { method: "get", path: "/audit", says: "What was done, by whom and why.", query: [after], answer: gatewayAuditPageSchema },
  { method: "get", path: "/artefacts", says: "Trained predictors that are kept.", answer: gatewayArtefactsSchema },
  { method: "put", path: "/artefacts/{id}", says: "Keeps a predictor under its SHA-256.", bytes: true, answer: gatewayArtefactSchema },
  {
    method: "delete",
    path: "/artefacts/{id}",
    says: "Removes a predictor that no policy names.",
    answer: z.object({ removed: z.string() }),
  },
  {
    method: "get",
    path: "/learning",
    says: "What is remembered of answered requests, for training: one line of JSON each.",
    text: "application/x-ndjson",
  },
  { method: "delete", path: "/learning", says: "Forgets it.", body: signatureSchema, answer: z.object({ erased: z.literal(true) }) },
  { method: "get", path: "/workflows", says: "What was learnt of workflows.", answer: gatewayWorkflowsSchema },
  { method: "delete", path: "/workflows", says: "Forgets it.", body: signatureSchema, answer: gatewayWorkflowsSchema },
  { method: "get", path: "/rounds", says: "The latest rounds of a policy that chooses models just in time.", answer: gatewayRoundsSchema },
  {
    method: "get",
    path: "/keys",
    says: "Keys of the clients with their last use; `null` where there are none.",
    answer: gatewayKeysSchema,
  },
  {
    method: "put",
    path: "/keys",
    says: "Replaces the keys of the clients, and nothing else of the configuration.",
    query: [ifMatch],
    body: keysRequestSchema,
    answer: gatewayKeysSchema,
  },
  {
    method: "get",
    path: "/usage",
    says: "What requests with keys used, by day, key and model, of 400 days.",
    query: [
      { name: "from", in: "query", required: false, description: "The first day, such as 2026-01-01." },
      { name: "to", in: "query", required: false, description: "The last day." },
    ],
    answer: gatewayUsageSchema,
  },
  { method: "get", path: "/ensembles", says: "Ensembles that are served, with their counts.", answer: gatewayEnsemblesSchema },
  {
    method: "put",
    path: "/ensembles/{id}",
    says: "Serves an ensemble, or changes one.",
    query: [ifMatch, signed],
    body: ensembleRequestSchema,
    answer: gatewayEnsemblesSchema,
  },
  {
    method: "delete",
    path: "/ensembles/{id}",
    says: "Ends an ensemble.",
    query: [ifMatch, signed],
    body: signatureSchema,
    answer: gatewayEnsemblesSchema,
  },
  {
    method: "put",
    path: "/ensembles/{id}/tau",
    says: "Moves the threshold of an ensemble.",
    query: [ifMatch, signed],
    body: tauRequestSchema,
    answer: gatewayEnsemblesSchema,
  },
];
