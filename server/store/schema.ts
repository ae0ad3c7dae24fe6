import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { GatewayPlace } from "@/server/contracts/gatewayPlace";
import type {
  AnswerSampleSummary,
  Application,
  ApplicationState,
  ArtefactTraining,
  BatchState,
  BatchSummary,
  ClusterSummary,
  JournalLine,
  LabCell,
  LabSpec,
  ProfileJob,
  ProfileRequest,
  Prompt,
  PromptSet,
  Proposal,
  ProposalState,
  Schedule,
  UnscoredKind,
  WorkloadLineage,
  WorkloadSummary,
} from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import type { SessionRow } from "@/solver/ensemble/sessionRow";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { ClusterSpec, Plan } from "@/solver/plan/plan";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { HeldOutError } from "@/solver/prediction/predictor";
import type { BatchOrder } from "./batchOrder";
import type { ScheduleMemory } from "./scheduleMemory";
import type { StoredStep } from "./storedStep";
import type { WatchedTraffic } from "./watchedTraffic";

/** Times are ISO 8601 in UTC throughout, so that text order is time order. */
export const workloads = sqliteTable("workloads", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  summary: text({ mode: "json" }).$type<Omit<WorkloadSummary, keyof WorkloadLineage>>().notNull(),
  /** The encoded workload, compressed. */
  data: blob({ mode: "buffer" }).notNull(),
  version: integer().notNull().default(1),
  parentId: text(),
  profileId: text(),
});

/** Samples of prompts. Their texts are in `prompts` until they expire or are deleted. */
export const promptSets = sqliteTable("prompt_sets", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  expiresAt: text(),
  summary: text({ mode: "json" }).$type<Omit<PromptSet, "deleted">>().notNull(),
});

export const prompts = sqliteTable(
  "prompts",
  {
    setId: text()
      .notNull()
      .references(() => promptSets.id),
    position: integer().notNull(),
    prompt: text({ mode: "json" }).$type<Prompt>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.setId, table.position] })],
);

export const profiles = sqliteTable("profiles", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  promptSetId: text()
    .notNull()
    .references(() => promptSets.id),
  request: text({ mode: "json" }).$type<ProfileRequest>().notNull(),
  state: text().$type<ProfileJob["state"]>().notNull(),
  pause: text({ mode: "json" }).$type<ProfileJob["pause"]>(),
});

/**
 * One call of a profile: a model's answer to a prompt, or a reading of that answer by a measure. `asked` is written before it is made,
 * so that a studio that was killed knows which may have been paid for and not noted.
 */
export const profileCalls = sqliteTable(
  "profile_calls",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    position: integer().notNull(),
    model: text().notNull(),
    /** Empty: the answer itself. */
    measureId: text().notNull(),
    /** Counts readings of one answer by one measure, and both orders of a pair; 0 for answers. */
    reading: integer().notNull(),
    /** `waiting`: an attempt failed, or was cut off before anything came, and it is asked again. */
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    /** How often it was begun. */
    attempts: integer().notNull(),
    /** Of attempts that a killed studio lost: they were begun again. */
    lost: integer().notNull().default(0),
    at: text().notNull(),
    /** What it spent, lost attempts at the most that they can have cost. */
    usd: real().notNull(),
    inputTokens: integer(),
    outputTokens: integer(),
    ttftSeconds: real(),
    seconds: real(),
    /** Engine that answered, and calls that the job had there meanwhile, this one included. */
    engine: text(),
    inFlight: integer(),
    score: real(),
    unscored: text().$type<UnscoredKind>(),
    failure: text(),
    /** 1: the engine ended it at its limit of tokens. */
    cut: integer(),
    /** Text of the answer; null once it is judged and not to be kept, or deleted. */
    answer: text(),
  },
  (table) => [
    primaryKey({ columns: [table.profileId, table.position, table.model, table.measureId, table.reading] }),
    index("kept_answers").on(table.profileId, table.measureId, table.position, table.model).where(sql`answer is not null`),
  ],
);

/**
 * Calls of a profile added up by what they have in common, so that nothing reads a job's half million rows to tell of it. Triggers on
 * `profile_calls` (migration 0010) keep it; a text is empty where the call has none.
 */
export const profileSums = sqliteTable(
  "profile_sums",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    model: text().notNull(),
    measureId: text().notNull(),
    reading: integer().notNull(),
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    unscored: text().$type<UnscoredKind | "">().notNull(),
    failure: text().notNull(),
    calls: integer().notNull(),
    lost: integer().notNull(),
    usd: real().notNull(),
    inputTokens: integer().notNull(),
    outputTokens: integer().notNull(),
    /** Calls whose output tokens are known. */
    withOutput: integer().notNull(),
    seconds: real().notNull(),
    /** Calls whose seconds are known. */
    timed: integer().notNull(),
    score: real().notNull(),
    scored: integer().notNull(),
    cut: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.profileId, table.model, table.measureId, table.reading, table.state, table.unscored, table.failure],
    }),
  ],
);

/** What people said of answers. `otherModel` is empty where one answer was labelled alone. */
export const handLabels = sqliteTable(
  "hand_labels",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    position: integer().notNull(),
    model: text().notNull(),
    otherModel: text().notNull(),
    quality: real().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.profileId, table.position, table.model, table.otherModel] })],
);

export const schedules = sqliteTable("schedules", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  schedule: text({ mode: "json" }).$type<Schedule>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  setBy: text().notNull(),
  setAt: text().notNull(),
  memory: text("last", { mode: "json" }).$type<ScheduleMemory>(),
});

export const plans = sqliteTable("plans", {
  id: text().primaryKey(),
  clusterId: text().notNull(),
  createdAt: text().notNull(),
  document: text({ mode: "json" }).$type<Plan>().notNull(),
});

export const clusters = sqliteTable("clusters", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  spec: text({ mode: "json" }).$type<ClusterSpec>().notNull(),
  suggested: text({ mode: "json" }).$type<ClusterSummary["suggested"]>(),
  runningPlanId: text().references(() => plans.id),
  runningSince: text(),
  /** How to reach what it is made of, checked anew whenever it is read; null: only described, or embedded. */
  connection: text({ mode: "json" }).$type<{ readonly kind: string }>(),
  /** null: none, or the embedded cluster's. */
  gateway: text({ mode: "json" }).$type<GatewayPlace>(),
});

export const approvals = sqliteTable("approvals", {
  id: integer().primaryKey({ autoIncrement: true }),
  planId: text()
    .notNull()
    .references(() => plans.id),
  clusterId: text().notNull(),
  actor: text().notNull(),
  at: text().notNull(),
  reason: text().notNull(),
});

export const applications = sqliteTable(
  "applications",
  {
    id: text().primaryKey(),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    planId: text().references(() => plans.id),
    previousPlanId: text().references(() => plans.id),
    hasWayBack: integer({ mode: "boolean" }).notNull().default(true),
    kind: text({ enum: ["apply", "rollback"] }).notNull(),
    state: text().$type<ApplicationState>().notNull(),
    startedAt: text().notNull(),
    endedAt: text(),
    graceEndsAt: text(),
    steps: text({ mode: "json" }).$type<readonly StoredStep[]>().notNull(),
    error: text(),
    actor: text().notNull(),
    /** Set when an operator aborted it: what was done is being undone. */
    undoing: integer({ mode: "boolean" }).notNull(),
    rollBackOnRegression: integer({ mode: "boolean" }).notNull().default(false),
    halt: text({ mode: "json" }).$type<Application["halt"]>(),
    verification: text({ mode: "json" }).$type<Application["verification"]>(),
  },
  (table) => [index("applications_by_cluster").on(table.clusterId, table.startedAt)],
);

/** What an application did, line by line, written before and after every act. Lines are only ever added. */
export const journal = sqliteTable(
  "journal",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    applicationId: text()
      .notNull()
      .references(() => applications.id),
    at: text().notNull(),
    /** null: of the application as a whole. */
    stepId: text(),
    event: text().$type<JournalLine["event"]>().notNull(),
    detail: text().notNull(),
  },
  (table) => [index("journal_by_application").on(table.applicationId, table.id)],
);

/** How live traffic stands against the plan in force, so that a restarted studio goes on where it was. */
export const trafficWatches = sqliteTable("traffic_watches", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  planId: text()
    .notNull()
    .references(() => plans.id),
  traffic: text({ mode: "json" }).$type<WatchedTraffic>().notNull(),
});

export const proposals = sqliteTable(
  "proposals",
  {
    id: text().primaryKey(),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    createdAt: text().notNull(),
    state: text().$type<ProposalState>().notNull(),
    closed: text({ mode: "json" }).$type<Proposal["closed"]>(),
    runningPlanId: text()
      .notNull()
      .references(() => plans.id),
    planId: text()
      .notNull()
      .references(() => plans.id),
    driftedSince: text().notNull(),
    drifted: text({ mode: "json" }).$type<Proposal["drifted"]>().notNull(),
    reason: text().notNull(),
    gain: text({ mode: "json" }).$type<Proposal["gain"]>().notNull(),
    change: text({ mode: "json" }).$type<Proposal["change"]>().notNull(),
    basis: text({ mode: "json" }).$type<Proposal["basis"]>().notNull(),
  },
  (table) => [index("proposals_by_cluster").on(table.clusterId, table.createdAt)],
);

/**
 * Telemetry in steps of 10 s or a minute: one row holds sixty steps of all quantities of one subject, packed. A row for each series
 * and step was measured at 21 times the size, most of it keys.
 */
export const rollUps = sqliteTable(
  "roll_ups",
  {
    clusterId: text().notNull(),
    subject: text().notNull(),
    stepSeconds: integer().notNull(),
    startMs: integer().notNull(),
    data: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.clusterId, table.subject, table.stepSeconds, table.startMs] }),
    index("roll_ups_by_age").on(table.stepSeconds, table.startMs),
  ],
);

/** What each engine is by its own word and since when that is known: rows made of its telemetry are of nothing else. */
export const engineIdentities = sqliteTable(
  "engine_identities",
  {
    clusterId: text().notNull(),
    engineId: text().notNull(),
    model: text().notNull(),
    /** As its metrics name it. */
    type: text().notNull(),
    version: text(),
    sinceMs: integer().notNull(),
    resetsMs: text({ mode: "json" }).$type<readonly number[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.clusterId, table.engineId] })],
);

export const audit = sqliteTable("audit", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text().notNull(),
});

/** The last line of each gateway's own audit that is in the studio's: with its time, since a gateway that lost its state counts from 1 again. */
export const gatewayAudits = sqliteTable("gateway_audits", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  sequence: integer().notNull(),
  atMs: real().notNull(),
});

/** Engine profiles fitted to the operator's own runs. */
export const calibrations = sqliteTable("calibrations", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  profile: text({ mode: "json" }).$type<EngineProfile>().notNull(),
});

/** Which profile, built in or fitted, plans are made with: the last line holds. Lines are only ever added. */
export const profileUses = sqliteTable("profile_uses", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  actor: text().notNull(),
  profileId: text().notNull(),
});

/** Trained predictors, each by the SHA-256 of its bytes; `version` counts those of the same kind and workload. */
export const artefacts = sqliteTable("artefacts", {
  hash: text().primaryKey(),
  kind: text({ enum: ["lengths", "confidence", "configurations"] }).notNull(),
  version: integer().notNull(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  /** What it was trained on and how; its error on prompts it had not seen. */
  training: text({ mode: "json" }).$type<ArtefactTraining>().notNull(),
  heldOut: text({ mode: "json" }).$type<HeldOutError>().notNull(),
  bytes: blob({ mode: "buffer" }).notNull(),
});

/** Workflows that were declared here. A name's newest version holds; lines are only ever added, and `document` is null where it was removed. */
export const declaredWorkflows = sqliteTable(
  "declared_workflows",
  {
    name: text().notNull(),
    version: integer().notNull(),
    createdAt: text().notNull(),
    actor: text().notNull(),
    origin: text({ enum: ["weir", "dspy", "langgraph"] }).notNull(),
    document: text({ mode: "json" }).$type<WorkflowDocument>(),
  },
  (table) => [primaryKey({ columns: [table.name, table.version] })],
);

/** Ensembles that were kept here. A name's newest version holds; lines are only ever added, and `document` is null where it was removed. */
export const ensembles = sqliteTable(
  "ensembles",
  {
    name: text().notNull(),
    version: integer().notNull(),
    createdAt: text().notNull(),
    actor: text().notNull(),
    document: text({ mode: "json" }).$type<Ensemble>(),
  },
  (table) => [primaryKey({ columns: [table.name, table.version] })],
);

/** Labelled answers that gates are chosen on. */
export const answerSamples = sqliteTable("answer_samples", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  summary: text({ mode: "json" }).$type<AnswerSampleSummary>().notNull(),
  /** The encoded sample, compressed. */
  data: blob({ mode: "buffer" }).notNull(),
});

/** Sessions of experts that were measured, which session costs are fitted to. */
export const sessionRows = sqliteTable("session_rows", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  row: text({ mode: "json" }).$type<SessionRow>().notNull(),
});

/** Batches of questions run through an ensemble. */
export const batches = sqliteTable("batches", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  endedAt: text(),
  actor: text().notNull(),
  clusterId: text()
    .notNull()
    .references(() => clusters.id),
  promptSetId: text()
    .notNull()
    .references(() => promptSets.id),
  /** What was asked, with the ensemble as it was, where each session runs and which prompts it has. */
  order: text({ mode: "json" }).$type<BatchOrder>().notNull(),
  state: text().$type<BatchState>().notNull(),
  pause: text({ mode: "json" }).$type<BatchSummary["pause"]>(),
});

/**
 * One call of a batch: an expert's answer to a prompt, or the aggregator's. `asked` is written before it is made, so that a studio that was killed makes
 * again only what may have come to nothing.
 */
export const batchCalls = sqliteTable(
  "batch_calls",
  {
    batchId: text()
      .notNull()
      .references(() => batches.id),
    stage: text({ enum: ["experts", "aggregator"] }).notNull(),
    position: integer().notNull(),
    model: text().notNull(),
    /** `waiting`: an attempt failed and it is asked again. */
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    /** How often it was begun, and how many of these a killed studio lost. */
    attempts: integer().notNull(),
    lost: integer().notNull().default(0),
    at: text().notNull(),
    engine: text(),
    inputTokens: integer(),
    outputTokens: integer(),
    seconds: real(),
    failure: text(),
    /** null: nothing could be read off the answer. */
    vote: text(),
    answer: text(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.position, table.model] })],
);

/** Sessions of a batch that were begun, and what they took, in engine seconds. */
export const batchSessions = sqliteTable(
  "batch_sessions",
  {
    batchId: text()
      .notNull()
      .references(() => batches.id),
    stage: text({ enum: ["experts", "aggregator"] }).notNull(),
    worker: integer().notNull(),
    turn: integer().notNull(),
    state: text({ enum: ["loading", "running", "unloading", "done"] }).notNull(),
    loadSeconds: real(),
    /** Of answering, those before a killed studio was started again included. */
    seconds: real(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.worker, table.turn] })],
);

/** Runs of the lab, each by the SHA-256 of all that its figures depend on. Their cells are in `labCells`. */
export const labRuns = sqliteTable("lab_runs", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  spec: text({ mode: "json" }).$type<LabSpec>().notNull(),
  state: text({ enum: ["running", "done", "cancelled", "interrupted", "failed"] }).notNull(),
  problem: text(),
  /** What was to be known of the figures when it was started. */
  notes: text({ mode: "json" }).$type<readonly string[]>().notNull().default([]),
});

/** Cells of the lab's runs, in the order in which they came. */
export const labCells = sqliteTable(
  "lab_cells",
  {
    runId: text()
      .notNull()
      .references(() => labRuns.id),
    position: integer().notNull(),
    cell: text({ mode: "json" }).$type<LabCell>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.position] })],
);

/** Only hashes are stored: reading the file lets nobody in. */
export const sessions = sqliteTable("sessions", {
  hash: text().primaryKey(),
  name: text().notNull(),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
});

export const signInLinks = sqliteTable("sign_in_links", {
  hash: text().primaryKey(),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  usedAt: text(),
});
