import { z } from "zod";
import { ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { deprecatedFields, readingOldNames } from "@/solver/plan/deprecatedFields";
import { policySchema } from "@/solver/plan/policySchema";
import { engineAccessFields } from "../engine/engineAccess";
import { gatewayControlsSchema, headerText, signature } from "./gatewayControls";
import { MOST_ENSEMBLES } from "./gatewayEnsembles";

/** The virtual model that is always the cascade in force, whichever plan that is; what clients should name. */
export const defaultCascade = "cascade/default";

/** Above any engine's, and below where counters and timers turn over. */
const mostAtOnce = 1_000_000;

/** One engine the gateway may send to. `cordoned` takes no new work and finishes what it has. */
const gatewayReplicaSchema = z.object({
  id: z.string().min(1),
  model: headerText.min(1),
  url: z.url(),
  state: z.enum(["active", "cordoned"]),
  maxInFlight: z.int().positive().max(mostAtOnce),
  /** What the engine itself calls the model, where that is another name. */
  servedName: z.string().min(1).max(500).optional(),
  ...engineAccessFields,
});

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** How the judge is asked. */
const judgeSettingsSchema = z.strictObject({
  /** Calls at once to a judge that has an address. One on engines of the configuration is bounded by theirs. */
  maxInFlight: z.int().positive().max(mostAtOnce).optional(),
  /** For one call, which each has first to wait for its turn; then the answer counts as not judged. Wall seconds. */
  timeoutSeconds: z.number().positive().max(86_400).optional(),
  /** What it is asked, in place of the gateway's own words; it must ask for an integer from 0 to 100. */
  rubric: z
    .string()
    .max(8000)
    .refine((text) => text.includes("{prompt}") && text.includes("{answer}"), "a rubric needs the places {prompt} and {answer}")
    .optional(),
  /** Of the conversation and of the answer each; of a longer one the judge is shown the start and the end. */
  maxCharacters: z.int().min(100).max(1_000_000).optional(),
});

/**
 * Who judges. With a `url` any OpenAI-compatible endpoint, its key in an environment variable of the gateway; without one the replicas
 * of that model in the configuration.
 */
export const judgeSchema = z.strictObject({
  model: z.string().min(1),
  url: z.url().optional(),
  /** Only variables that are meant for it, so that a configuration can have no other secret of the gateway's environment sent anywhere. */
  keyFromEnvironment: z
    .string()
    .regex(/^WEIR_JUDGE_[A-Z0-9_]{1,80}$/, "the variable's name must begin with WEIR_JUDGE_")
    .optional(),
});

const priorityClassSchema = z.strictObject({ name: z.string().min(1), queueFraction: z.number().gt(0).max(1) });

/**
 * What an operator sets beside the plan. A PUT without it leaves it as it is, so that applying a plan opens no door; a PUT with `{}`
 * clears it. Unknown members are refused: a misspelt `keys` must not leave the gateway open.
 */
const gatewaySettingsSchema = z.strictObject({
  /**
   * What a client that asks a judged cascade for a stream gets unless it says in `x-weir-stream`. `buffer` (left out): nothing leaves before
   * an answer is whole and accepted, so an engine's failure costs a retry and never a broken stream. `last`: the last stage streams live.
   */
  streaming: z.enum(["buffer", "last"]).optional(),
  judge: judgeSettingsSchema.optional(),
  /** Who may ask; left out: everybody. Keys stand here as their SHA-256 only. A key's objective counts before the request's own. */
  keys: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        sha256,
        requestsPerMinute: z.int().positive().optional(),
        objective: z.string().min(1).optional(),
      }),
    )
    .min(1)
    .optional(),
  /**
   * Classes of work, named by a request in `x-gateway-inference-objective` or by its key. A class is shed when a model's queue is filled to
   * `queueFraction` of its bound, so a class with a small fraction makes room for the rest. Work of no class listed here has the whole.
   */
  priorityClasses: z.array(readingOldNames(priorityClassSchema, deprecatedFields.priorityClass)).optional(),
  /** What tokens cost, by model; records have a cost where every model that answered has a price. */
  prices: z
    .record(
      z.string(),
      z.strictObject({ usdPerMillionInputTokens: z.number().nonnegative(), usdPerMillionOutputTokens: z.number().nonnegative() }),
    )
    .optional(),
  /** Records hold this many characters of the end of each prompt; left out: none. Few, since twenty thousand records are kept in memory. */
  recordedPromptCharacters: z.int().positive().max(2000).optional(),
  /** Served as `ensemble/<name>` over the models of the configuration; names differ. */
  ensembles: z
    .array(ensembleSchema)
    .max(MOST_ENSEMBLES)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "two ensembles have one name")
    .optional(),
});

/**
 * What the gateway runs: PUT whole to `/config` on the admin listener with `If-Match: "<etag>"` (428 when missing, 412
 * when stale), read with GET. Kept on disk, so the gateway serves the last good one when it starts alone.
 */
export const gatewayConfigSchema = z.object({
  apiVersion: z.literal("weir/v1"),
  kind: z.literal("GatewayConfig"),
  /** Name under which `/v1/models` lists the virtual model `cascade/<name>`, beside `cascade/default`. */
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/),
  planId: headerText,
  policyHash: headerText,
  policy: policySchema,
  replicas: z.array(gatewayReplicaSchema),
  /**
   * Models of which an engine is on its way, as while a plan moves their last GPU: requests for one wait in its line where no engine takes
   * work, and are not rejected. Left out: none.
   */
  awaited: z.array(headerText.min(1)).optional(),
  judge: judgeSchema.nullable(),
  /** Engine seconds that pass in one wall second: 1 on real engines, more only on an emulated cluster. */
  timeScale: z.number().min(0.001).max(100_000),
  settings: readingOldNames(gatewaySettingsSchema, deprecatedFields.settings).optional(),
});

/** The body of PUT `/config`: a configuration, and who puts it there and why, for the audit. */
export const configRequestSchema = gatewayConfigSchema.extend({
  by: signature.by.default("admin API"),
  reason: signature.reason.default(""),
});

/** Why there is no score of an answer that was to be judged. Older gateways write `resting` for `circuit-open` and `unavailable`. */
const unscoredSchema = z.enum(["circuit-open", "unavailable", "resting", "busy", "too-late", "failed", "refused", "no-score", "aborted"]);

/** How the judge is, since its configuration is in force. */
const judgeStatusSchema = z.object({
  model: z.string(),
  /** After failures in a row it is not called for some seconds. */
  circuitOpen: z.boolean(),
  /** Why it cannot be called at all; null where it can. */
  unavailable: z.string().nullable(),
  /** Calls that brought a score, and calls that brought none. */
  scored: z.int(),
  failed: z.int(),
  /** Unix milliseconds. */
  lastScoreMs: z.number().nullable(),
  lastFailure: z.object({ atMs: z.number(), outcome: unscoredSchema, reason: z.string() }).nullable(),
});

/** A plan as an operator knows it. */
const previousPlanSchema = gatewayConfigSchema.pick({ name: true, planId: true, policyHash: true });

/** GET `/status` on the admin listener. */
export const gatewayStatusSchema = z.object({
  version: z.string(),
  uptimeSeconds: z.number(),
  configEtag: z.string().nullable(),
  planId: z.string().nullable(),
  queued: z.record(z.string(), z.int()),
  replicas: z.array(
    z.object({
      id: z.string(),
      model: z.string(),
      state: z.enum(["active", "cordoned", "unhealthy"]),
      inFlight: z.int(),
      /** Why it is unhealthy, where that is known. */
      reason: z.string().optional(),
      /** `access`: the key or the certificate that the gateway is to ask it with is missing. Left out by older gateways. */
      reasonKind: z.enum(["access", "unhealthy"]).optional(),
    }),
  ),
  /** Models of the cascade in force of which no engine takes work, and since when, in Unix milliseconds. Left out by older gateways. */
  lostStages: z.array(z.object({ model: z.string(), sinceMs: z.number() })).optional(),
  lastDecision: z.int(),
  /** Requests rejected on arrival since the gateway started: no key, unserved model, bad or half a body, too large, too slow, queue full. */
  refused: z.int(),
  /** Of those, the ones there was no room or no engine for. Left out by older gateways. */
  shed: z.int().optional(),
  /** Answers accepted without a judged score since the gateway started. */
  unjudged: z.int(),
  /** null: nobody judges. Left out by older gateways. */
  judge: judgeStatusSchema.nullable().optional(),
  /** Predictors that policies name and that do not serve: requests go without. Left out where all do. */
  lackingPredictors: z.array(z.object({ hash: z.string(), reason: z.string() })).optional(),
  /** What an operator does to live traffic. Left out by older gateways. */
  controls: gatewayControlsSchema.optional(),
  /** Of the configuration on disk, which a restart would serve; null where there is none. Left out by older gateways. */
  persistedEtag: z.string().nullable().optional(),
  /** What a rollback goes back to; null where there is none. Left out by older gateways. */
  previous: previousPlanSchema.nullable().optional(),
  /** Sequence of the latest line of `/audit`. */
  lastAudit: z.int().optional(),
});

/**
 * When things happened, in engine seconds on the gateway's own clock, which goes forward only and starts anew with the gateway. With
 * them the run of a policy can be replayed.
 */
const stageTimesSchema = z.object({
  queued: z.number(),
  dispatched: z.number(),
  /** The first token, where the answer went to the client as it was written. */
  firstToken: z.number().optional(),
  /** The engine was done with it. */
  answered: z.number(),
  judged: z.number().nullable(),
});

/** Something an engine said of itself. */
const readingSchema = z.object({
  state: z.enum(["fresh", "stale", "absent", "unreachable"]),
  value: z.number().optional(),
  ageSeconds: z.number().optional(),
  /** Why it is not fresh: which metric was looked for, or what failed. */
  reason: z.string().optional(),
});

/** Why the gateway aborted a request before its answer was whole. */
const abortKindSchema = z.enum(["client-gone", "slow-body", "deadline", "shutting-down"]);

/** What a failed engine call failed of; few, so that they can be labels. Engines' own words are `other`. */
const failureKindSchema = z.enum([
  "ended",
  "broken-stream",
  "status-429",
  "status-5xx",
  "refused",
  "no-answer",
  "silent",
  "connection",
  "other",
]);

/** One stage a request went through. Seconds are engine seconds (wall seconds x timeScale). */
const stageRecordSchema = z.object({
  model: z.string(),
  replica: z.string(),
  queueSeconds: z.number(),
  seconds: z.number(),
  judgeSeconds: z.number().nullable(),
  judgedScore: z.number().nullable(),
  threshold: z.number().nullable(),
  /** Why there is no score of an answer that was to be judged; `detail` says it in full. */
  unscored: unscoredSchema.optional(),
  verdict: z.enum(["accepted", "escalated", "failed"]),
  reason: z.string(),
  /** More about the reason, in words. Older gateways write it into `reason`, after a colon. */
  detail: z.string().optional(),
  /** Where the verdict is `failed`. Left out in records of older gateways. */
  failure: failureKindSchema.optional(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  at: stageTimesSchema.optional(),
  /** What was known of the engine when it was chosen. Left out in records of older gateways. */
  engine: z
    .object({
      /** Why the policy chose otherwise than it would have, for want of telemetry. */
      degraded: z.string().optional(),
      /** Requests the gateway had there, this one included. */
      inFlight: z.int(),
      maxInFlight: z.int(),
      /** Where the policy goes by it. */
      kvUse: readingSchema.optional(),
      /** Where the policy packs the memory of engines: tokens that the KV cache holds, null and why where that is not known, and requests preempted. */
      kvCapacity: z.object({ tokens: z.number().nullable(), reason: z.string().optional() }).optional(),
      preemptions: readingSchema.optional(),
      /**
       * What became of the client's `priority`, or where it gave none of the order's key, lower being earlier: sent as it is or with its sign turned to an engine that orders by it,
       * offered to one that takes it and does not tell, or stripped. Left out where there was neither.
       */
      priority: z.enum(["passed", "negated", "offered", "stripped"]).optional(),
    })
    .optional(),
});

/**
 * Why a request was answered as it was. No answer, and no prompt unless the settings say so. Served by GET `/decisions/<id>` and by
 * GET `/decisions?after=<sequence>` (at most 1000 a call). What is optional is left out in records of older gateways, or as said.
 */
export const decisionSchema = z.object({
  sequence: z.int(),
  id: z.string(),
  planId: z.string(),
  policyHash: z.string(),
  /** Unix milliseconds at which the answer was complete. */
  finishedAtMs: z.number(),
  status: z.int(),
  /** Why the gateway answered itself, as in a request shed for want of room; empty where an engine's answer was passed on. */
  reason: z.string(),
  /** Left out where the gateway did not abort it, and in records of older gateways. */
  aborted: abortKindSchema.optional(),
  /** Why it started at its first stage here; left out where it was shed before. */
  startReason: z.string().optional(),
  endpoint: z.string().optional(),
  /** Its session, else its trace, where the client named one. */
  program: z.string().optional(),
  /** As the policy saw them: lengths where the client or a predictor said something of them, at the stage it entered last. */
  inputTokens: z.int().optional(),
  predictedTokens: z.number().optional(),
  predictedProgramTokens: z.number().optional(),
  /** The agent that asked, as `application/agent`; left out where nobody named one. */
  agent: z.string().optional(),
  /** Where the policy chooses models when engines have room: its place in a workflow, as its client named both. */
  call: z.object({ workflow: z.string(), agent: z.string() }).optional(),
  /**
   * Configurations of its workflow that predictors held to be accurate for its program, of how many, and which, as the words of
   * `configurationSet.ts`; left out where they were not told of this request.
   */
  configurations: z.object({ accurate: z.int(), of: z.int(), set: z.array(z.int().min(0).max(0xffffffff)) }).optional(),
  /**
   * What calls of its agent taught, as the policy saw it at the stage it entered last, and when its program began, in engine seconds on the
   * gateway's own clock; left out where the policy does not ask, or nothing is learnt yet. Where the policy chooses models, the beginning alone.
   */
  programStart: z.number().optional(),
  forecast: z
    .object({
      agent: z.string(),
      distanceSeconds: z.number(),
      remainingCalls: z.number(),
      requestSeconds: z.number(),
      tokensPerSecond: z.number(),
    })
    .optional(),
  /** Whether a canary's candidate decided. */
  canary: z.boolean().optional(),
  /** The name in `model`. */
  asked: z.string().optional(),
  /** Models the policy could have sent it to, in the order of the stages. */
  candidates: z.array(z.string()).readonly().optional(),
  /** Left out where the policy names no predictors: their hashes, what they said of each model, and why they did not say all where they did not. */
  predictions: z
    .object({
      lengths: z.string().optional(),
      confidence: z.string().optional(),
      /** Of a request with which its program begins; what it said is in `configurations` of the record. */
      configurations: z.string().optional(),
      models: z.record(
        z.string(),
        z.object({ requestTokens: z.number().optional(), remainingTokens: z.number().optional(), confidence: z.number().optional() }),
      ),
      absent: z.enum(["loading", "queue-full", "late", "failed", "not-loaded", "no-encoder", "not-asked"]).optional(),
    })
    .optional(),
  /** What the application's own router said of them; left out where it said nothing. */
  routerScores: z.record(z.string(), z.number()).optional(),
  /** Name of the API key, and class of work, where there is one. */
  key: z.string().optional(),
  objective: z.string().optional(),
  /** What was out of order and so changed what happened; empty when nothing was. */
  degraded: z.array(z.enum(["judge", "telemetry", "stage", "lower-stage"])).optional(),
  /** Models of stages that could not answer, and whether they had no engines or theirs failed this request; left out where none was. */
  skipped: z.array(z.object({ model: z.string(), cause: z.enum(["lost", "failed"]) })).optional(),
  /** Of the tokens of every stage and of the judge's calls; null where a price or a count is not known. */
  costUsd: z.number().nullable().optional(),
  /** The end of the prompt, where the settings ask for it. */
  prompt: z.string().optional(),
  /** Length of the whole prompt: where `prompt` is shorter it was cut. */
  promptCharacters: z.int().optional(),
  stages: z.array(stageRecordSchema),
  ttftSeconds: z.number().nullable(),
  endToEndSeconds: z.number(),
  overheadSeconds: z.number(),
});

export const decisionPageSchema = z.object({ decisions: z.array(decisionSchema), latest: z.int(), missed: z.int() });

export type GatewayReplica = z.infer<typeof gatewayReplicaSchema>;
export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
export type ConfigRequest = z.infer<typeof configRequestSchema>;
export type GatewaySettings = z.infer<typeof gatewaySettingsSchema>;
export type PreviousPlan = z.infer<typeof previousPlanSchema>;
export type GatewayStatus = z.infer<typeof gatewayStatusSchema>;
export type AbortKind = z.infer<typeof abortKindSchema>;
export type FailureKind = z.infer<typeof failureKindSchema>;
export type StageRecord = z.infer<typeof stageRecordSchema>;
export type Decision = z.infer<typeof decisionSchema>;

/** Whether a stage's answer was to be judged, got no score and was accepted all the same: the quality floor does not cover it. */
export const isUnjudged = ({ judgeSeconds, judgedScore, verdict }: StageRecord): boolean =>
  judgeSeconds !== null && judgedScore === null && verdict === "accepted";
