import { z } from "zod";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { UnscoredCause } from "@/solver/gates/gates";
import { hostedEngineSchema } from "@/solver/hardware/hostedModel";
import { deprecatedFields, readingOldNames } from "@/solver/plan/deprecatedFields";
import { policySchema } from "@/solver/plan/policySchema";
import { engineAccessFields } from "../engine/engineAccess";
import { gainRecordSchema } from "./gainRecord";
import { gatewayControlsSchema, headerText, signature } from "./gatewayControls";
import { MOST_ENSEMBLES } from "./gatewayEnsembles";
import { type GatewayKey, gatewayKeySchema, keyLabelsSchema } from "./gatewayKeys";

/** The virtual model that is always the cascade in force, whichever plan that is; clients should use this name. */
export const defaultCascade = "cascade/default";

/** Larger than any engine's limit, and below the overflow of counters and timers. */
const mostAtOnce = 1_000_000;

/** One engine that the gateway may use. A `cordoned` one takes no new work and finishes its requests. */
const gatewayReplicaSchema = z.object({
  id: z.string().min(1),
  model: headerText.min(1),
  url: z.url(),
  state: z.enum(["active", "cordoned"]),
  maxInFlight: z.int().positive().max(mostAtOnce),
  /** The engine's own name of the model, if it differs. */
  servedName: z.string().min(1).max(500).optional(),
  /** Set if the engine is known not to report log probabilities: a gate that reads them is refused for its model. */
  logProbabilities: z.literal(false).optional(),
  /** Set if a provider outside of the house serves it: requests are sent there only where `dataMayLeave` of the settings allows it. */
  hosted: hostedEngineSchema.optional(),
  ...engineAccessFields,
});

/** Settings of the judge's calls. */
const judgeSettingsSchema = z.strictObject({
  /** Concurrent calls to a judge that has an address. A judge on engines of the configuration is bounded by theirs. */
  maxInFlight: z.int().positive().max(mostAtOnce).optional(),
  /** Limit for one call, and for the wait for its turn before it; then the answer counts as not judged. Wall seconds. */
  timeoutSeconds: z.number().positive().max(86_400).optional(),
  /** The judge's prompt, in place of the gateway's own; it must ask for an integer from 0 to 100. */
  rubric: z
    .string()
    .max(8000)
    .refine((text) => text.includes("{prompt}") && text.includes("{answer}"), "a rubric needs the places {prompt} and {answer}")
    .optional(),
  /** Limit for the conversation and for the answer; of a longer one the judge gets the start and the end. */
  maxCharacters: z.int().min(100).max(1_000_000).optional(),
});

/**
 * The judge. With a `url` any OpenAI-compatible endpoint, its key in an environment variable of the gateway; without one the replicas of
 * that model in the configuration.
 */
export const judgeSchema = z.strictObject({
  model: z.string().min(1),
  url: z.url().optional(),
  /** Only variables with this prefix, so that a configuration cannot send another secret of the gateway's environment anywhere. */
  keyFromEnvironment: z
    .string()
    .regex(/^WEIR_JUDGE_[A-Z0-9_]{1,80}$/, "the variable's name must begin with WEIR_JUDGE_")
    .optional(),
});

const priorityClassSchema = z.strictObject({ name: z.string().min(1), queueFraction: z.number().gt(0).max(1) });

/** Requests that may be sent to hosted models: those that ask for one of these names and whose API key has all that is named here. */
const leavingRuleSchema = z.strictObject({
  /** Names that clients ask for; `cascade/default` allows the cascade in force under each of its names. */
  models: z.array(headerText.min(1)).min(1),
  /** Absent: any client. */
  key: z.string().min(1).optional(),
  team: z.string().min(1).optional(),
  project: z.string().min(1).optional(),
});

/**
 * An operator's settings in addition to the plan. A PUT without them keeps the present ones, so that applying a plan does not open access;
 * a PUT with `{}` clears them. Unknown members are refused: a misspelt `keys` must not leave the gateway open.
 */
const gatewaySettingsSchema = z.strictObject({
  /**
   * How a judged cascade streams, unless a client says otherwise in `x-weir-stream`. `buffer` (default): nothing is sent before an answer
   * is whole and accepted, so an engine's failure costs a retry and never a broken stream. `last`: the last stage streams live.
   */
  streaming: z.enum(["buffer", "last"]).optional(),
  judge: judgeSettingsSchema.optional(),
  /** The accepted API keys; absent: all clients are accepted. */
  keys: z.array(gatewayKeySchema).min(1).optional(),
  /**
   * Classes of work, named by a request in `x-gateway-inference-objective` or by its key. A class is shed when a model's queue is filled to
   * `queueFraction` of its bound, so a class with a small fraction makes room for the rest. Work of any other class may fill the whole
   * queue.
   */
  priorityClasses: z.array(readingOldNames(priorityClassSchema, deprecatedFields.priorityClass)).optional(),
  /** Token prices by model; records have a cost if every model that answered has a price. */
  prices: z
    .record(
      z.string(),
      z.strictObject({ usdPerMillionInputTokens: z.number().nonnegative(), usdPerMillionOutputTokens: z.number().nonnegative() }),
    )
    .optional(),
  /**
   * Which requests may leave the house for hosted models; absent: none. Of a request that may not, the cascade ends at its last own stage.
   */
  dataMayLeave: z.array(leavingRuleSchema).max(1000).optional(),
  /**
   * Records contain this many characters of the end of each prompt; absent: none. The limit is low, since twenty thousand records are kept
   * in memory.
   */
  recordedPromptCharacters: z.int().positive().max(2000).optional(),
  /** Served as `ensemble/<name>` over the models of the configuration; names differ. */
  ensembles: z
    .array(ensembleSchema)
    .max(MOST_ENSEMBLES)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "two ensembles have one name")
    .optional(),
});

/**
 * The gateway's configuration: PUT whole to `/config` on the admin listener with `If-Match: "<etag>"` (428 when missing, 412 when stale),
 * read with GET. Kept on disk, so the gateway serves the last good one when it starts alone.
 */
export const gatewayConfigSchema = z.object({
  apiVersion: z.literal("weir/v1"),
  kind: z.literal("GatewayConfig"),
  /** Name under which `/v1/models` lists the virtual model `cascade/<name>`, in addition to `cascade/default`. */
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/),
  planId: headerText,
  policyHash: headerText,
  policy: policySchema,
  replicas: z.array(gatewayReplicaSchema),
  /**
   * Models with an engine on its way, as while a plan moves their last GPU: if no engine takes work, requests for one wait in its queue
   * instead of being rejected. Absent: none.
   */
  awaited: z.array(headerText.min(1)).optional(),
  judge: judgeSchema.nullable(),
  /** Engine seconds per wall second: 1 on real engines, more only on an emulated cluster. */
  timeScale: z.number().min(0.001).max(100_000),
  settings: readingOldNames(gatewaySettingsSchema, deprecatedFields.settings).optional(),
});

/** The body of PUT `/config`: a configuration, with its author and reason for the audit. */
export const configRequestSchema = gatewayConfigSchema.extend({
  by: signature.by.default("admin API"),
  reason: signature.reason.default(""),
});

/** Why the judge gave no score. Older gateways write `resting` for `circuit-open` and `unavailable`. */
const judgeOutcomes = ["circuit-open", "unavailable", "resting", "busy", "too-late", "failed", "refused", "no-score", "aborted"] as const;
const unjudgedSchema = z.enum(judgeOutcomes);

/** Why a gate that is not the judge gave no score. */
const gateCauses = ["no-log-probabilities", "no-other-answers", "no-extractable-answer"] as const satisfies readonly UnscoredCause[];

/** Why a required score of an answer is missing. */
const unscoredSchema = z.enum([...judgeOutcomes, ...gateCauses]);

/** A further answer that a gate compared an answer with: given, failed, cancelled when it could change nothing, or not asked for. */
const gateCallSchema = z.object({
  model: z.string(),
  outcome: z.enum(["answered", "failed", "cancelled", "no-free-engine"]),
  /** Null where the engine did not count them, as of a cancelled answer: its cost is estimated by the tokens of the request's prompt. */
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** Engine seconds until it was there, failed or was cancelled. Absent where it was not asked for, and in records of older gateways. */
  seconds: z.number().optional(),
});

/** How an answer got its score. */
const gateRecordSchema = z.object({
  kind: z.enum(["judge", "confidence", "agreement", "scorer", "sequence"]),
  /** From the answer to its score: the judge's time and the wait for further answers. */
  seconds: z.number(),
  /** The further answers; absent if it asks for none. */
  calls: z.array(gateCallSchema).optional(),
  /**
   * Scores before calibration, 0..100, of the gates that it consists of, in order; null for one that had none. Absent in records of older
   * gateways.
   */
  raw: z.array(z.number().nullable()).optional(),
});

/** The judge's status since its configuration is in force. */
const judgeStatusSchema = z.object({
  model: z.string(),
  /** After consecutive failures it is not called for some seconds. */
  circuitOpen: z.boolean(),
  /** Why it cannot be called at all; null if it can. */
  unavailable: z.string().nullable(),
  /** Calls that returned a score, and calls that returned none. */
  scored: z.int(),
  failed: z.int(),
  /** Unix milliseconds. */
  lastScoreMs: z.number().nullable(),
  lastFailure: z.object({ atMs: z.number(), outcome: unjudgedSchema, reason: z.string() }).nullable(),
});

/** A plan in an operator's terms. */
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
      /** Why it is unhealthy, if known. */
      reason: z.string().optional(),
      /** `access`: the key or the certificate for the gateway's requests is missing. Absent in older gateways. */
      reasonKind: z.enum(["access", "unhealthy"]).optional(),
    }),
  ),
  /** Models of the cascade in force without an engine that takes work, and since when, in Unix milliseconds. Absent in older gateways. */
  lostStages: z.array(z.object({ model: z.string(), sinceMs: z.number() })).optional(),
  /**
   * Thresholds of the cascade in force that overload has lowered, by the stage's model, and since when, in Unix milliseconds. Absent if there
   * are none, and in older gateways.
   */
  grace: z.array(z.object({ model: z.string(), planned: z.int(), inForce: z.int(), sinceMs: z.number() })).optional(),
  lastDecision: z.int(),
  /**
   * Requests rejected on arrival since the gateway started: no key, unserved model, bad or incomplete body, too large, too slow, queue
   * full.
   */
  refused: z.int(),
  /** Those of them that were rejected for lack of room or of an engine. Absent in older gateways. */
  shed: z.int().optional(),
  /** Answers accepted without a judged score since the gateway started. */
  unjudged: z.int(),
  /** null: no judge. Absent in older gateways. */
  judge: judgeStatusSchema.nullable().optional(),
  /** Stages whose gate could not score their latest answers, and how many in a row. Absent if there are none. */
  unscoredStages: z.array(z.object({ model: z.string(), cause: z.enum(gateCauses), answers: z.int() })).optional(),
  /** Predictors that policies name and that do not serve: requests continue without them. Absent if all serve. */
  lackingPredictors: z.array(z.object({ hash: z.string(), reason: z.string() })).optional(),
  /**
   * How state is shared with other gateways over Valkey: whether it decides now, the gateways that were alive when it was last seen, since when,
   * in Unix milliseconds, and why it does not. Absent if this gateway shares none.
   */
  sharing: z.object({ reachable: z.boolean(), gateways: z.int(), sinceMs: z.number(), reason: z.string().optional() }).optional(),
  /** An operator's controls of live traffic. Absent in older gateways. */
  controls: gatewayControlsSchema.optional(),
  /** ETag of the configuration on disk, which a restart would serve; null if there is none. Absent in older gateways. */
  persistedEtag: z.string().nullable().optional(),
  /** The plan that a rollback restores; null if there is none. Absent in older gateways. */
  previous: previousPlanSchema.nullable().optional(),
  /** Sequence of the latest line of `/audit`. */
  lastAudit: z.int().optional(),
});

/**
 * Times of events, in engine seconds on the gateway's own clock, which is monotonic and restarts with the gateway. With them the run of a
 * policy can be replayed.
 */
const stageTimesSchema = z.object({
  queued: z.number(),
  dispatched: z.number(),
  /** The first token, if the answer was streamed to the client. */
  firstToken: z.number().optional(),
  /** The engine finished it. */
  answered: z.number(),
  judged: z.number().nullable(),
});

/** A value that an engine reported about itself. */
const readingSchema = z.object({
  state: z.enum(["fresh", "stale", "absent", "unreachable"]),
  value: z.number().optional(),
  ageSeconds: z.number().optional(),
  /** Why it is not fresh: the metric that was not found, or what failed. */
  reason: z.string().optional(),
});

/** Why the gateway aborted a request before its answer was whole. */
const abortKindSchema = z.enum(["client-gone", "slow-body", "deadline", "shutting-down"]);

/** Why an engine call failed; a small set, so that the values can be labels. Engines' own messages are `other`. */
const failureKindSchema = z.enum([
  "ended",
  "broken-stream",
  "status-429",
  "status-5xx",
  "refused",
  "no-answer",
  "silent",
  "connection",
  "budget",
  "other",
]);

/** Why a choice of an answer ended, as engines of OpenAI's API say it; any other word of an engine is `other`. */
export const finishReasons = ["stop", "length", "tool_calls", "function_call", "content_filter", "abort", "error", "other"] as const;

/** One stage a request went through. Seconds are engine seconds (wall seconds x timeScale). */
const stageRecordSchema = z.object({
  model: z.string(),
  replica: z.string(),
  queueSeconds: z.number(),
  seconds: z.number(),
  /** Null where the judge was not asked. */
  judgeSeconds: z.number().nullable(),
  /** The score of the stage's gate, which the threshold is compared with; null where there is none. */
  judgedScore: z.number().nullable(),
  /** Absent if nothing scored the answer, and in records of older gateways, where only the judge did. */
  gate: gateRecordSchema.optional(),
  /** Further answers that were asked for beside an engine call that failed, so that nothing was compared. Absent if there are none. */
  unusedCalls: z.array(gateCallSchema).optional(),
  /** As it was when it decided: below the plan's under grace. */
  threshold: z.number().nullable(),
  /** The threshold of the plan; absent unless overload had lowered it. */
  plannedThreshold: z.number().optional(),
  /** Why the policy went on or stopped, where it chooses by expected gain. */
  gain: gainRecordSchema.optional(),
  /** Why a required score of an answer is missing; `detail` says it in full. */
  unscored: unscoredSchema.optional(),
  verdict: z.enum(["accepted", "escalated", "failed"]),
  reason: z.string(),
  /** More about the reason, in words. Older gateways write it into `reason`, after a colon. */
  detail: z.string().optional(),
  /** Set if the verdict is `failed`. Absent in records of older gateways. */
  failure: failureKindSchema.optional(),
  /** Of each choice of the answer. Absent where the engine said none, and in records of older gateways. */
  finishReasons: z.array(z.enum(finishReasons)).readonly().optional(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** Tokens of the prompt that the engine found in its prefix cache; absent if it did not say. */
  cachedTokens: z.int().optional(),
  at: stageTimesSchema.optional(),
  /** The known state of the engine when it was chosen. Absent in records of older gateways. */
  engine: z
    .object({
      /** Why the policy decided differently for lack of telemetry. */
      degraded: z.string().optional(),
      /** Requests the gateway had there, this one included. */
      inFlight: z.int(),
      maxInFlight: z.int(),
      /** Present if the policy uses it. */
      kvUse: readingSchema.optional(),
      /**
       * Present if the policy packs the memory of engines: the capacity of the KV cache in tokens, null and a reason if it is not known,
       * and the number of preempted requests.
       */
      kvCapacity: z.object({ tokens: z.number().nullable(), reason: z.string().optional() }).optional(),
      preemptions: readingSchema.optional(),
      /**
       * How the client's `priority` was handled, or the order's key if it gave none, lower being earlier: sent unchanged or with its sign
       * inverted to an engine that orders by it, offered to one that takes it and does not say whether it orders by it, or stripped. Absent
       * if there was neither.
       */
      priority: z.enum(["passed", "negated", "offered", "stripped"]).optional(),
    })
    .optional(),
});

/** What calls of an agent taught. */
const forecastSchema = z.object({
  agent: z.string(),
  distanceSeconds: z.number(),
  remainingCalls: z.number(),
  requestSeconds: z.number(),
  tokensPerSecond: z.number(),
});

/** Why a stage could not answer a request. */
const skipCauses = ["lost", "failed", "budget", "data-stays"] as const;

/**
 * The record of the decisions about a request. It contains no answer, and no prompt unless the settings say so. Served by GET
 * `/decisions/<id>` and by GET `/decisions?after=<sequence>` (at most 1000 a call). Optional members are absent in records of older
 * gateways, or as stated.
 */
export const decisionSchema = z.object({
  sequence: z.int(),
  id: z.string(),
  planId: z.string(),
  policyHash: z.string(),
  /** Unix milliseconds at which the answer was complete. */
  finishedAtMs: z.number(),
  status: z.int(),
  /** Why the gateway answered itself, as for a request shed for lack of room; empty if an engine's answer was passed on. */
  reason: z.string(),
  /** Absent if the gateway did not abort it, and in records of older gateways. */
  aborted: abortKindSchema.optional(),
  /** Why it started at its first stage here; absent if it was shed before. */
  startReason: z.string().optional(),
  /** The terms of that choice, where the policy chooses by expected gain. */
  startGain: gainRecordSchema.optional(),
  endpoint: z.string().optional(),
  /** Its session, or else its trace, if the client named one. */
  program: z.string().optional(),
  /** As the policy saw them: lengths if the client or a predictor stated them, at the stage it entered last. */
  inputTokens: z.int().optional(),
  predictedTokens: z.number().optional(),
  predictedProgramTokens: z.number().optional(),
  /** When its client needed the answer, in engine seconds on the gateway's own clock; absent if the client did not say. */
  due: z.number().optional(),
  /**
   * If the policy places by prefix: hashes of the prompt's first blocks, at most 256, as the bytes of 32-bit numbers, the lowest byte first, in
   * base64. Their salt is drawn when the gateway starts. They are no secret: who knows one prompt and its hashes can
   * test guesses of others.
   */
  promptBlocks: z.base64().max(1368).optional(),
  /** The agent of the request, as `application/agent`; absent if the client named none. */
  agent: z.string().optional(),
  /** If the policy chooses models when engines have room: its place in a workflow, with the client's names of both. */
  call: z.object({ workflow: z.string(), agent: z.string() }).optional(),
  /**
   * Configurations of its workflow that were predicted to be accurate for its program, the number of all configurations, and which ones, as
   * the words of `configurationSet.ts`; absent if predictors were not asked about this request. If scores of answers change which count, also
   * how far each is from that, as the bytes of `configurationSet.ts` in base64.
   */
  configurations: z
    .object({ accurate: z.int(), of: z.int(), set: z.array(z.int().min(0).max(0xffffffff)), margins: z.base64().optional() })
    .optional(),
  /** When the search for them ended, in engine seconds on the gateway's own clock; absent if the request did not wait beside it. */
  searched: z.number().optional(),
  /**
   * What calls of its agent taught, as the policy saw it at the stage it entered last, and when its program began, in engine seconds on the
   * gateway's own clock; absent if the policy does not ask, or nothing is learnt yet. If the policy chooses models, or only reads which
   * requests are one program, only the beginning.
   */
  programStart: z.number().optional(),
  forecast: forecastSchema.optional(),
  /** Forecasts that replaced it while the request waited, as more was learnt, the newest ones; `at`: in engine seconds. */
  reforecasts: z.array(z.object({ at: z.number(), forecast: forecastSchema.optional() })).optional(),
  /** Whether a canary's candidate decided. */
  canary: z.boolean().optional(),
  /** The name in `model`. */
  asked: z.string().optional(),
  /** Models to which the policy could have sent it, in the order of the stages. */
  candidates: z.array(z.string()).readonly().optional(),
  /**
   * Absent if the policy names no predictors: their hashes, their predictions for each model, and why predictions are missing, if any are.
   */
  predictions: z
    .object({
      lengths: z.string().optional(),
      confidence: z.string().optional(),
      /** For a first request of its program; its prediction is in `configurations` of the record. */
      configurations: z.string().optional(),
      models: z.record(
        z.string(),
        z.object({ requestTokens: z.number().optional(), remainingTokens: z.number().optional(), confidence: z.number().optional() }),
      ),
      absent: z.enum(["loading", "queue-full", "late", "failed", "not-loaded", "no-encoder", "not-asked"]).optional(),
    })
    .optional(),
  /** Scores of the application's own router; absent if it gave none. */
  routerScores: z.record(z.string(), z.number()).optional(),
  /** Name of the API key, its labels, and class of work, if any. */
  key: z.string().optional(),
  labels: keyLabelsSchema.optional(),
  objective: z.string().optional(),
  /** Degradations that changed the outcome; empty if there were none. */
  degraded: z.array(z.enum(["judge", "gate", "telemetry", "stage", "lower-stage"])).optional(),
  /**
   * Models of stages that could not answer: they had no engines (`lost`), their engines failed this request, a budget of a hosted model is used
   * up (`budget`), or the request may not leave the house (`data-stays`). Absent if there were none.
   */
  skipped: z.array(z.object({ model: z.string(), cause: z.enum(skipCauses) })).optional(),
  /**
   * For the tokens of every stage, for those of further answers (of cancelled ones those of the prompt) and for the judge's calls; null if a
   * price or a count is not known.
   */
  costUsd: z.number().nullable().optional(),
  /** The end of the prompt, if the settings ask for it. */
  prompt: z.string().optional(),
  /** Length of the whole prompt: a shorter `prompt` was cut. */
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
export type FinishReason = (typeof finishReasons)[number];
export type FailureKind = z.infer<typeof failureKindSchema>;
export type SkipCause = (typeof skipCauses)[number];
export type StageRecord = z.infer<typeof stageRecordSchema>;
export type GateRecord = z.infer<typeof gateRecordSchema>;
export type GateCall = z.infer<typeof gateCallSchema>;
export type GateCause = (typeof gateCauses)[number];
export type Decision = z.infer<typeof decisionSchema>;

/** Whether an answer has no score because of its gate, and not because of the judge. */
export const isGateCause = (unscored: NonNullable<StageRecord["unscored"]>): unscored is GateCause =>
  gateCauses.some((cause) => cause === unscored);

/** A configuration that serves these ensembles instead of its own. */
export function withEnsembles(config: GatewayConfig, ensembles: readonly Ensemble[]): GatewayConfig {
  const { ensembles: _, ...settings } = config.settings ?? {};
  return { ...config, settings: ensembles.length === 0 ? settings : { ...settings, ensembles: [...ensembles] } };
}

/** A configuration with these keys of clients instead of its own. */
export function withKeys(config: GatewayConfig, keys: readonly GatewayKey[]): GatewayConfig {
  return { ...config, settings: { ...config.settings, keys: [...keys] } };
}
