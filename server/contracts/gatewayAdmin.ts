import { z } from "zod";
import { policySchema } from "@/solver/plan/policySchema";

/** The virtual model that is always the cascade in force, whichever plan that is; what clients should name. */
export const defaultCascade = "cascade/default";

/** One engine the gateway may send to. `cordoned` takes no new work and finishes what it has. */
const gatewayReplicaSchema = z.object({
  id: z.string().min(1),
  model: z.string().min(1),
  url: z.url(),
  state: z.enum(["active", "cordoned"]),
  maxInFlight: z.int().positive(),
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
  planId: z.string(),
  policyHash: z.string(),
  policy: policySchema,
  replicas: z.array(gatewayReplicaSchema),
  judge: z.object({ model: z.string(), url: z.url() }).nullable(),
  /** Engine seconds that pass in one wall second: 1 on real engines, more only on an emulated cluster. */
  timeScale: z.number().positive(),
});

/** GET `/status` on the admin listener. */
export const gatewayStatusSchema = z.object({
  version: z.string(),
  uptimeSeconds: z.number(),
  configEtag: z.string().nullable(),
  planId: z.string().nullable(),
  queued: z.record(z.string(), z.int()),
  replicas: z.array(z.object({ id: z.string(), model: z.string(), state: z.enum(["active", "cordoned", "unhealthy"]), inFlight: z.int() })),
  lastDecision: z.int(),
  /** Requests turned away at the door since the gateway started: unserved model, bad body, too large, queue full. */
  refused: z.int(),
  /** Answers accepted without a judged score since the gateway started. */
  unjudged: z.int(),
});

/** One stage a request went through. Seconds are engine seconds (wall seconds x timeScale). */
const stageRecordSchema = z.object({
  model: z.string(),
  replica: z.string(),
  queueSeconds: z.number(),
  seconds: z.number(),
  judgeSeconds: z.number().nullable(),
  judgedScore: z.number().nullable(),
  threshold: z.number().nullable(),
  verdict: z.enum(["accepted", "escalated", "failed"]),
  reason: z.string(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
});

/** Why a request was answered as it was. No prompt, no answer. Served by GET `/decisions?after=<sequence>` (at most 1000 a call). */
const decisionSchema = z.object({
  sequence: z.int(),
  id: z.string(),
  planId: z.string(),
  policyHash: z.string(),
  /** Unix milliseconds at which the answer was complete. */
  finishedAtMs: z.number(),
  status: z.int(),
  /** Why the gateway answered itself, as in a request shed for want of room; empty where an engine's answer was passed on. */
  reason: z.string(),
  /** Why it started at its first stage here; left out where it was shed before. */
  startReason: z.string().optional(),
  stages: z.array(stageRecordSchema),
  ttftSeconds: z.number().nullable(),
  endToEndSeconds: z.number(),
  overheadSeconds: z.number(),
});

export const decisionPageSchema = z.object({ decisions: z.array(decisionSchema), latest: z.int(), missed: z.int() });

export type GatewayReplica = z.infer<typeof gatewayReplicaSchema>;
export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
export type GatewayStatus = z.infer<typeof gatewayStatusSchema>;
export type StageRecord = z.infer<typeof stageRecordSchema>;
export type Decision = z.infer<typeof decisionSchema>;
