import { z } from "zod";
import { gateKinds } from "@/solver/gates/gateDocument";
import { policySchema } from "@/solver/plan/policySchema";
import { redactionChoiceSchema } from "@/solver/redaction/redactor";

/**
 * An operator's controls of live traffic, apart from the configuration. Each has one path on the gateway's admin listener: PUT begins or
 * replaces it, GET reads it (null if there is none), DELETE ends it. All are kept on disk, every change is a line of GET `/audit`.
 */

/** Characters that are allowed in the headers of answers, such as plan ids and names of models. */
export const headerText = z
  .string()
  .max(200)
  .regex(/^[\x20-\x7e]*$/, "it goes into the headers of answers, so it may hold printable ASCII only");

/** Author and reason, for the audit line. DELETE carries it as its body. */
export const signature = {
  by: z.string().min(1).max(100),
  reason: z.string().max(300),
};
export const signatureSchema = z.strictObject(signature);

/** PUT `/panic`: every request for text goes to one model, whichever it names, until the panic is cleared. */
export const panicRequestSchema = z.strictObject({ model: z.string().min(1), ...signature });
export const panicSchema = panicRequestSchema.extend({
  sinceMs: z.number(),
  /** What an operator must know about it now, for example that no engine of the model answers. Absent if there is nothing. */
  warning: z.string().optional(),
});

/** A policy with its plan, to be run or watched over the present engines. */
const candidateSchema = z.strictObject({ planId: headerText, policyHash: headerText, policy: policySchema });

/**
 * PUT `/strict-stages` (a signature): requests that only a smaller model than the policy chose could answer, because every larger one is
 * lost, are answered 503. Without it the largest remaining model answers them, marked.
 */
export const strictStagesSchema = signatureSchema.extend({ sinceMs: z.number() });

const share = z.number().gt(0).max(1);

const gateKind = z.enum(gateKinds);

/**
 * PUT `/canary`: a candidate takes a growing share of the programs, and is put into force after the last step. A step ends when it has
 * lasted `stepSeconds` and `minRequests` of the candidate's requests in it are finished.
 */
export const canaryRequestSchema = z.strictObject({
  candidate: candidateSchema,
  /** Shares of the programs, step by step, rising; the last is 1. */
  shares: z.array(share).min(1).max(10),
  /** Wall seconds. */
  stepSeconds: z.number().positive(),
  minRequests: z.int().positive(),
  /** The canary stops, and the policy in force gets every program back, if in a step the share of these requests is exceeded. */
  stop: z.strictObject({
    /** Answered with 5xx, not answered, or rejected because the queue is full (429). */
    errorShare: z.number().min(0).lt(1),
    /** End to end slower than the objective, in engine seconds; null: latency does not stop it. */
    slow: z.strictObject({ endToEndSeconds: z.number().positive(), share: z.number().min(0).lt(1) }).nullable(),
  }),
  ...signature,
});

/** Requests finished in the current step. */
const canaryArmSchema = z.object({ finished: z.int(), failed: z.int(), slow: z.int() });
export const canarySchema = canaryRequestSchema.extend({
  state: z.enum(["running", "stopped", "promoted", "withdrawn"]),
  /** Index into `shares`. */
  step: z.int(),
  sinceMs: z.number(),
  stepSinceMs: z.number(),
  candidateArm: canaryArmSchema,
  /** The policy in force, over the same time. */
  currentArm: canaryArmSchema,
  /** Why it ended; empty while it runs. */
  endReason: z.string(),
});

/** PUT `/shadow`: a candidate decides on live traffic without acting; differences in its decisions are counted. */
export const shadowRequestSchema = z.strictObject({ candidate: candidateSchema, ...signature });
export const shadowSchema = shadowRequestSchema.extend({
  sinceMs: z.number(),
  requests: z.int(),
  /** The first model of a request. */
  starts: z.object({ same: z.int(), different: z.int() }),
  /** Judged answers of a model that both policies judge. */
  verdicts: z.object({ same: z.int(), acceptsMore: z.int(), escalatesMore: z.int() }),
  /** Judged answers of a model without a judged stage in the candidate, and answers that only the candidate would have judged. */
  notComparable: z.int(),
  /**
   * Answered requests by the model of the client's actual answer and of the candidate's; `unknown` if that depends on the score of an
   * answer that was never requested.
   */
  finalModels: z.record(z.string(), z.object({ actual: z.int(), candidate: z.int() })),
  /** Why it ended by itself, after an error of its own; empty while it runs. */
  endReason: z.string(),
});

/**
 * PUT `/mirror`: a share of the cascade's requests is sent, once answered, through the stages it did not visit, and every answer is scored by
 * the gate of its stage. The last stage has none: its answer is scored by the judge, or not at all in a cascade without one. Only into spare
 * capacity: a copy never waits in a queue, and takes a slot only at an engine that is less than half full.
 */
export const mirrorRequestSchema = z.strictObject({ share, maxInFlight: z.int().positive().max(1000), ...signature });
export const mirrorSchema = mirrorRequestSchema.extend({
  sinceMs: z.number(),
  inFlight: z.int(),
  /** Requests picked, and the outcomes of their copies: whole, skipped for lack of room, failed. */
  picked: z.int(),
  completed: z.int(),
  skipped: z.int(),
  failed: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  /** By the settings' prices; null if a model has none. */
  costUsd: z.number().nullable(),
  /**
   * By model: how many answers got each score, 101 counts; includes those of the requests' own stages. Of the gate in force: those of a model
   * begin anew with another gate.
   */
  scores: z.record(z.string(), z.array(z.int()).length(101)),
  /** Kinds of the gates that gave them, by model. Absent in older gateways, where the judge gave all. */
  gates: z.record(z.string(), gateKind).optional(),
  /** Sequence of the latest sample. Absent in older gateways, which keep none. */
  lastSample: z.int().optional(),
});

/** A model's answer to a mirrored request. */
const mirroredAnswerSchema = z.object({
  model: z.string(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** Calibrated, 0..100; null where the answer has no gate. */
  score: z.number().nullable(),
  /** What gave the score, with the scores before calibration of the gates that it consists of. Absent where nothing did. */
  gate: z.object({ kind: gateKind, raw: z.array(z.number().nullable()).optional() }).optional(),
});

/** A mirrored request that every model of its policy has answered. It holds no text. */
const mirrorSampleSchema = z.object({
  /** From 1 since the gateway started. */
  sequence: z.int(),
  decisionId: z.string(),
  planId: z.string(),
  policyHash: z.string(),
  /** When the last answer was there. */
  atMs: z.number(),
  /** In the order of the policy's models. */
  answers: z.array(mirroredAnswerSchema),
});

/** GET `/mirror/samples?after=<sequence>`: at most 1000 samples, oldest first, of the newest 5000. */
export const mirrorSamplePageSchema = z.object({ samples: z.array(mirrorSampleSchema), latest: z.int() });

/**
 * PUT `/capture`: a share of the chat requests of the named keys that were answered is stored, without what the rules remove and never with
 * an answer, in files of the gateway's state directory that only its user may read. DELETE ends it and keeps the stored prompts until their
 * retention ends; DELETE `/capture?erase=1` deletes that too.
 */
export const captureRequestSchema = z.strictObject({
  share,
  /** Names of API keys; a single `*` stands for all clients, and is valid only if the configuration has no keys. */
  keys: z.array(z.string().min(1).max(200)).min(1).max(200).readonly(),
  redactions: redactionChoiceSchema,
  /** Days of UTC, the day of a request being the first. */
  retentionDays: z.int().min(1).max(365),
  /**
   * Limit for all files together: the oldest day is deleted for a new one, and nothing more is kept once today's prompts alone reach it.
   */
  mostBytes: z
    .int()
    .min(100_000)
    .max(10 * 1024 ** 3),
  ...signature,
});
const promptCount = z.int().min(0);
export const captureSchema = z.object({
  /** null: nothing is captured. */
  running: captureRequestSchema.extend({ sinceMs: z.number() }).nullable(),
  /** Names of the configuration's keys; null: it has none, and all clients are accepted. */
  keyNames: z.array(z.string()).nullable(),
  /** Since it or the gateway began; those of an ended capture until another begins. */
  counts: z.object({
    kept: promptCount,
    /** Why others of the share were not kept: too many at once, too long, not only text, too slow to redact, no room, not written. */
    dropped: z.object({
      busy: promptCount,
      "too-long": promptCount,
      "not-text": promptCount,
      "too-slow": promptCount,
      "no-room": promptCount,
      failed: promptCount,
    }),
    /** By name of the rule. */
    redacted: z.record(z.string(), promptCount),
  }),
  /** The present files. */
  files: z.object({
    prompts: promptCount,
    bytes: promptCount,
    oldestDay: z.string().nullable(),
    /** The upper bound. */
    retentionDays: z.int(),
    /** The shortest retention that was promised for some of them; absent if nothing is kept, and in older gateways. */
    leastRetentionDays: z.int().optional(),
  }),
});

/** GET `/captures?after=<next of the previous page>`: prompts as chat lines, oldest first; `next` is null if there were no more. */
export const capturePageSchema = z.object({ lines: z.array(z.string()).readonly(), next: z.string().nullable() });

/**
 * DELETE `/captures`: deletes the captured prompts of one key or of one user, the `user` of its requests. A capture that runs goes on. User
 * ids are not kept: prompts have a pseudonym, with which the answer names the user.
 */
export const captureErasureSchema = z.strictObject({
  of: z.union([z.strictObject({ key: z.string().min(1).max(200) }), z.strictObject({ user: z.string().min(1).max(1000) })]),
  ...signature,
});
export const captureErasedSchema = z.object({
  /** Deleted ones. */
  prompts: promptCount,
  of: z.union([z.object({ key: z.string() }), z.object({ user: z.string() })]),
});

/**
 * PATCH `/knobs` with `If-Match: "<etag of the configuration>"`: sets knobs of the policy in force inside their approved ranges. Makes a
 * new revision: another policy hash, the same plan.
 */
export const knobsRequestSchema = z.strictObject({
  /** All of them. */
  thresholds: z.array(z.int().min(0).max(100)).optional(),
  tau: z.number().nonnegative().optional(),
  deltaScore: z.number().min(0).max(1).optional(),
  ...signature,
});

/** GET `/audit?after=<sequence>`: at most 1000 lines, oldest first. Numbered from 1 across all starts of the gateway. */
export const gatewayAuditLineSchema = z.object({
  sequence: z.int(),
  atMs: z.number(),
  by: z.string(),
  action: z.enum([
    "panic",
    "panic lifted",
    "canary started",
    "canary step",
    "canary stopped",
    "canary promoted",
    "canary withdrawn",
    "shadow started",
    "shadow ended",
    "mirror started",
    "mirror ended",
    "capture started",
    "capture ended",
    "capture erased",
    "capture expired",
    "workflows forgotten",
    "features forgotten",
    "ensemble served",
    "ensemble ended",
    "tau changed",
    "knobs turned",
    "rolled back",
    "configuration",
    "keys changed",
    "limit nearly used",
    "stage lost",
    "stage back",
    "grace began",
    "grace ended",
    "strict stages",
    "strict stages lifted",
    "order refused",
  ]),
  /** One sentence. */
  detail: z.string(),
  /** Number of refused orders that the line stands for; absent: one. */
  times: z.int().positive().optional(),
  /** ETag of the configuration that it put into force. Absent in lines of older gateways. */
  etag: z.string().optional(),
});
export const gatewayAuditPageSchema = z.object({ lines: z.array(gatewayAuditLineSchema), latest: z.int() });

/** The controls in GET `/status`. */
export const gatewayControlsSchema = z.object({
  panic: panicSchema.nullable(),
  canary: canarySchema.nullable(),
  shadow: shadowSchema.nullable(),
  mirror: mirrorSchema.nullable(),
  /** Sequence of the latest sample of mirrored requests, also where the mirror has ended; 0: none. Absent in older gateways. */
  lastMirrorSample: z.int().optional(),
  /** Absent in older gateways. */
  capture: captureSchema.optional(),
  /** Absent in older gateways. */
  strictStages: strictStagesSchema.nullable().optional(),
});

export type Signature = z.infer<typeof signatureSchema>;
export type PanicRequest = z.infer<typeof panicRequestSchema>;
export type Panic = z.infer<typeof panicSchema>;
export type Candidate = z.infer<typeof candidateSchema>;
export type CanaryRequest = z.infer<typeof canaryRequestSchema>;
export type Canary = z.infer<typeof canarySchema>;
export type ShadowRequest = z.infer<typeof shadowRequestSchema>;
export type Shadow = z.infer<typeof shadowSchema>;
export type MirrorRequest = z.infer<typeof mirrorRequestSchema>;
export type Mirror = z.infer<typeof mirrorSchema>;
export type MirrorSample = z.infer<typeof mirrorSampleSchema>;
export type MirroredAnswer = z.infer<typeof mirroredAnswerSchema>;
export type StrictStages = z.infer<typeof strictStagesSchema>;
export type CaptureRequest = z.infer<typeof captureRequestSchema>;
export type Capture = z.infer<typeof captureSchema>;
export type CaptureErasure = z.infer<typeof captureErasureSchema>;
export type CaptureErased = z.infer<typeof captureErasedSchema>;
export type KnobsRequest = z.infer<typeof knobsRequestSchema>;
export type GatewayAuditLine = z.infer<typeof gatewayAuditLineSchema>;
export type GatewayControls = z.infer<typeof gatewayControlsSchema>;
