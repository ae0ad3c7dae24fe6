import { z } from "zod";
import { judgeSchema } from "@/server/contracts/gateway/gatewayAdmin";
import {
  canaryRequestSchema,
  captureRequestSchema,
  knobsRequestSchema,
  mirrorRequestSchema,
} from "@/server/contracts/gateway/gatewayControls";
import { gatewayPlaceSchema } from "@/server/contracts/gateway/gatewayPlace";
import { judgeSeconds } from "@/server/contracts/planRequest";
import { endpointToTrySchema } from "@/server/contracts/studio/attachedCluster";
import { decisionFilterSchema } from "@/server/contracts/studio/liveStream";
import { exportFormats } from "@/server/fleet/exportPlan";
import { LONGEST_RANGE_MS } from "@/server/series/bucketWidth";
import { measuringBounds } from "@/solver/calibration/nextRun";
import { comparedAnswersSchema, confidenceReadingSchema } from "@/solver/gates/gateDocument";
import { engineKinds, engineProfileSchema } from "@/solver/hardware/engineProfile";
import { SHARE_BOUNDS } from "@/solver/tournament/tournamentLimits";
import { keyReferenceSchema } from "@/solver/wording/keyReference";
import { enteredTitle, machineName } from "@/solver/wording/names";

/** The input schema of every procedure, so that a router reads as a table of contents. */
export const byId = z.object({ id: z.string().min(1) });
/** Gates of a workload, compared with random escalation where this share of the answers is sent on. */
export const gatesOfWorkloadSchema = byId.extend({ share: z.number().min(SHARE_BOUNDS.min).max(SHARE_BOUNDS.max) });
export const byPlan = z.object({ planId: z.string().min(1) });
export const byCluster = z.object({ clusterId: z.string().min(1) });

const rangeOfTime = { fromMs: z.number().min(0), toMs: z.number() };
const seriesKeySchema = z.object({ subject: z.string().min(1).max(500), quantity: z.string().min(1).max(100) });
export const subjectsSchema = byCluster.extend(rangeOfTime);
export const plansInForceSchema = byCluster.extend(rangeOfTime);
/** Either the last `lastMs` milliseconds, or a range of time. */
export const measuredRangeSchema = byCluster.extend({
  range: z.union([z.strictObject({ lastMs: z.number().positive().max(LONGEST_RANGE_MS) }), z.strictObject(rangeOfTime)]),
});
/** At most as many points as a screen is wide, for the series of one page's charts. */
export const rangeSchema = byCluster
  .extend({
    ...rangeOfTime,
    points: z.int().min(1).max(2_000),
    series: z.array(seriesKeySchema).max(300).readonly(),
  })
  .refine(({ fromMs, toMs }) => fromMs < toMs, { path: ["toMs"], error: "a range ends after it begins" });

const MINUTE_MS = 60_000;
const followedChartsSchema = z.object({
  spanMs: z.number().min(MINUTE_MS, "follow at least a minute").max(LONGEST_RANGE_MS, "follow at most 31 days"),
  points: z.int().min(2).max(800),
  series: z.array(seriesKeySchema).max(150, "follow at most 150 series").readonly(),
});
export const liveStreamSchema = byCluster.extend({
  topics: z.object({ charts: followedChartsSchema.nullable(), decisions: decisionFilterSchema.nullable() }),
  /** Set by the client at a reconnect: time of the last frame it received. */
  lastEventId: z
    .string()
    .regex(/^\d{1,16}$/)
    .optional(),
});

export const workloadImportSchema = z.object({
  outcomesUploadId: z.uuid(),
  /** Without a trace, arrivals are a bursty Gamma renewal process. */
  arrivalsUploadId: z.uuid().nullable(),
  /** Ladder to take from the table, if it contains several. */
  family: z.string().nullable(),
  /** Tasks to include; empty includes all. */
  tasks: z.array(z.string()),
  /** Area under the curve of the modelled judge; null if the table contains judged scores. */
  judgeAuc: z.number().min(0.5).max(1).nullable(),
  name: enteredTitle,
  /** Model names of the table -> ids of model cards, in addition to the committed aliases. */
  aliases: z.record(z.string(), z.string()),
  /** What the column confidence holds; left out: the smallest token probability. */
  confidence: confidenceReadingSchema.optional(),
  /** What the column agreement compares, peers by card or by their names in the table; left out: not known, and no plan uses the column. */
  agreement: comparedAnswersSchema.optional(),
});

/** A workload in the format that the studio writes. */
export const workloadLinesSchema = z.object({ uploadId: z.uuid() });

/** Nodes of the same kind. */
const nodeRowSchema = z.object({
  nodes: z.int().min(1, "give at least one node").max(128, "give at most 128 nodes"),
  gpusPerNode: z.int().min(1, "give at least one GPU").max(16, "give at most 16 GPUs a node"),
  gpu: machineName,
  usdPerGpuHour: z.number().nonnegative("give a price of 0 or more"),
});

export const clusterDescriptionSchema = z.object({
  name: enteredTitle,
  /** Named node1, node2 ... in this order. The first row's GPU type is the cluster's own. */
  rows: z
    .array(nodeRowSchema)
    .min(1, "give at least one row of nodes")
    .max(16, "give at most 16 rows of nodes")
    .refine((rows) => rows.reduce((sum, row) => sum + row.nodes, 0) <= 128, "give at most 128 nodes")
    .refine(
      (rows) => rows.every((row) => rows.every((other) => other.gpu !== row.gpu || other.usdPerGpuHour === row.usdPerGpuHour)),
      "give GPUs of one type one price",
    ),
});

export const tryEndpointsSchema = z.union([
  z.strictObject({ text: z.string().max(200_000, "paste at most 200,000 characters") }),
  z.strictObject({
    endpoints: z.array(endpointToTrySchema).min(1).max(500, "try at most 500 endpoints").readonly(),
    /** Whether one token may be generated, which causes work for the engines. */
    generate: z.boolean(),
  }),
]);
export const connectionTextSchema = z.object({ text: z.string().max(1_000_000, "give a connection of at most 1 MB") });
/** A judge that is not attached yet. */
export const tryJudgeSchema = z.object({ judge: judgeSchema.required({ url: true }) });
/** null: as measured. */
export const enterJudgeTimeSchema = byCluster.extend({ secondsPerCall: judgeSeconds.nullable() });

export const attachSchema = z.object({
  name: enteredTitle,
  /** Validated according to its kind. */
  connection: z.unknown(),
  /** null: the studio runs the gateway. */
  gateway: gatewayPlaceSchema.nullable(),
  /** Mean time of a call of the connection's judge, if an operator enters one; absent: as measured. */
  judgeSecondsPerCall: judgeSeconds.optional(),
});
export const changeConnectionSchema = byCluster.extend({ connection: z.unknown() });
export const detachSchema = byCluster.extend({ name: z.string() });
export const byEngine = byCluster.extend({ engineId: z.string().min(1) });

/** A plan, and the cluster on which it would come into force. */
export const planOnClusterSchema = byPlan.extend({ clusterId: z.string().min(1) });

/** Models without an engine that takes work, and whether smaller ones may answer in their place. */
export const remainingSchema = planOnClusterSchema.extend({
  lost: z.array(z.string().min(1)).min(1).max(100),
  lowerMayAnswer: z.boolean(),
});
export const approveSchema = planOnClusterSchema.extend({
  /** The displayed hash: an approval of anything else is refused. */
  hash: z.string().min(1),
  reason: z.string().trim().max(500),
});

export const exportSchema = planOnClusterSchema.extend({ format: z.enum(exportFormats) });

export const applySchema = z.object({
  planId: z.string().min(1),
  clusterId: z.string().min(1),
  /** Plan in force when the difference was shown; refused if another is in force now. */
  expectedRunningPlanId: z.string().nullable(),
  /** Roll back automatically if it stops by itself, or if its plan breaks its promises. */
  rollBackOnRegression: z.boolean().default(false),
});
export const rollbackSchema = byCluster.extend({
  /** null: the plan before the one in force, or nothing. */
  toPlanId: z.string().nullable(),
  rollBackOnRegression: z.boolean().default(false),
});

export const loadSchema = z.object({
  clusterId: z.string().min(1),
  workloadId: z.string().min(1),
  requestsPerSecond: z.number().positive().max(10_000),
  /** Engine seconds of load. */
  seconds: z
    .number()
    .positive()
    .max(24 * 3600),
});

const why = z.string().trim().max(300, "give a reason of at most 300 characters");
/** The displayed ETag of the gateway's configuration: refused if another is in force now. */
const etag = z.string().min(1);

export const panicSchema = byCluster.extend({
  model: z.string().min(1),
  reason: why.min(1, "give a reason"),
});
export const endControlSchema = byCluster.extend({ reason: why });
export const startCanarySchema = byCluster.extend({
  ...canaryRequestSchema.omit({ candidate: true, by: true }).shape,
  planId: z.string().min(1),
  shares: canaryRequestSchema.shape.shares.refine(
    (shares) => shares.at(-1) === 1 && shares.every((share, at) => at === 0 || share > (shares[at - 1] ?? 0)),
    "give shares that rise, up to 100 %",
  ),
  reason: why,
});
export const startShadowSchema = byCluster.extend({ planId: z.string().min(1), reason: why });
export const startMirrorSchema = byCluster.extend({ ...mirrorRequestSchema.omit({ by: true }).shape, reason: why });
export const startCaptureSchema = byCluster.extend({ ...captureRequestSchema.omit({ by: true }).shape, reason: why });
export const knobsSchema = byCluster.extend({ ...knobsRequestSchema.omit({ by: true }).shape, etag, reason: why });
export const forecastControlsSchema = byCluster.extend({
  ...knobsRequestSchema.omit({ by: true, reason: true }).shape,
  /** Of the policy that was seen: refused if another is in force now; left out: whichever is. */
  policyHash: z.string().optional(),
});
export const rollBackSchema = byCluster.extend({ etag, reason: why });

export const configTextSchema = z.object({ text: z.string().max(1_000_000, "give a file of at most 1 MB") });
export const cardSchema = z.object({ kind: z.enum(["model", "gpu"]), id: z.string().min(1) });
export const priceSchema = z.object({
  gpu: machineName,
  usdPerGpuHour: z.number().positive("give a price above 0").max(1000, "give at most $1,000 an hour").nullable(),
});

export const liveTableSchema = byCluster.extend({ span: z.enum(["hour", "day", "week"]) });
export const byUpload = z.object({ uploadId: z.uuid() });
export const checkSchema = z.object({ uploadId: z.uuid(), profileId: z.string().min(1) });
export const fitSchema = z.object({
  uploadId: z.uuid(),
  /** The initial profile of the fit, and the engine whose runs it is fitted to. */
  profileId: z.string().min(1),
  engine: z.enum(engineKinds),
  /** Whether the efficiencies are fitted in addition to the host terms; null: the error on held-out rows decides. */
  efficiencies: z.boolean().nullable(),
  /** Whether TTFT is excluded from the fit, if clients delay first tokens. */
  tpotOnly: z.boolean(),
  name: enteredTitle,
});
export const keepProfileSchema = z.object({ profile: engineProfileSchema });

export type GatesOfWorkload = z.infer<typeof gatesOfWorkloadSchema>;
export type CardKind = z.infer<typeof cardSchema>["kind"];
export type WorkloadImport = z.infer<typeof workloadImportSchema>;
export type ClusterDescription = z.infer<typeof clusterDescriptionSchema>;
export type TryEndpointsRequest = z.infer<typeof tryEndpointsSchema>;
export type AttachRequest = z.infer<typeof attachSchema>;
export type RemainingRequest = z.infer<typeof remainingSchema>;
export type ApproveRequest = z.infer<typeof approveSchema>;
export type LiveStreamRequest = z.infer<typeof liveStreamSchema>;
export type MeasuredRangeRequest = z.infer<typeof measuredRangeSchema>["range"];
export type LiveRangeRequest = Omit<z.infer<typeof rangeSchema>, "clusterId">;
export type ApplyRequest = z.input<typeof applySchema>;
export type RollbackRequest = z.input<typeof rollbackSchema>;
export type LiveTableRequest = z.infer<typeof liveTableSchema>;
export type CheckRequest = z.infer<typeof checkSchema>;
const { tp, pp, minutes, tokens, concurrency } = measuringBounds;
/** `Measure this engine`. */
export const measuringSchema = z.object({
  url: z.string().trim().min(1).max(500),
  model: z.string().min(1).max(200).nullable(),
  gpu: z.string().min(1).max(80).nullable(),
  tp: z.int().min(tp.min).max(tp.max).default(tp.usual),
  pp: z.int().min(pp.min).max(pp.max).default(pp.usual),
  minutes: z.number().min(minutes.min).max(minutes.max),
  tokens: z.int().min(tokens.min).max(tokens.max),
  concurrency: z.int().min(concurrency.min).max(concurrency.max).nullable().default(null),
  servingOthers: z.boolean(),
  key: keyReferenceSchema.optional(),
});
export type FitRequest = z.infer<typeof fitSchema>;
export type LoadRequest = z.infer<typeof loadSchema>;
export type PanicOrder = Omit<z.infer<typeof panicSchema>, "clusterId">;
export type CanaryOrder = Omit<z.infer<typeof startCanarySchema>, "clusterId">;
export type ShadowOrder = Omit<z.infer<typeof startShadowSchema>, "clusterId">;
export type MirrorOrder = Omit<z.infer<typeof startMirrorSchema>, "clusterId">;
export type CaptureOrder = Omit<z.infer<typeof startCaptureSchema>, "clusterId">;
export type KnobsOrder = Omit<z.infer<typeof knobsSchema>, "clusterId">;
export type RollBackOrder = Omit<z.infer<typeof rollBackSchema>, "clusterId">;
