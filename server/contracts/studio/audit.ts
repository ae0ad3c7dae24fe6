import { z } from "zod";

/** What an act can be about. */
export const auditObjects = [
  "plan",
  "application",
  "proposal",
  "schedule",
  "cluster",
  "gateway",
  "capture",
  "workload",
  "prompts",
  "profile",
  "batch",
  "ensemble",
  "workflow",
  "predictor",
  "calibration",
  "card",
  "lab run",
  "load",
  "session",
  "person",
  "token",
  "key",
  "audit",
] as const;
export type AuditObject = (typeof auditObjects)[number];

export const auditOutcomes = ["done", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** An act or a refused attempt, as it is written into the audit. */
export interface AuditLine {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  /** The object's name or id, for people. */
  readonly subject: string;
  readonly detail: string;
  /** Absent: done. */
  readonly outcome?: AuditOutcome;
  readonly objectKind?: AuditObject | null;
  readonly objectId?: string | null;
  readonly clusterId?: string | null;
  /** The actor's role at the time; null: not known. */
  readonly role?: string | null;
  /** The network address that the request came from; null: not known. */
  readonly address?: string | null;
  /** Attempts that the line stands for; absent: 1. */
  readonly times?: number;
}

/** A line of the audit, as it is kept. */
export interface AuditRecord extends Required<AuditLine> {
  /** In the order of writing, from 0, which begins the chain. */
  readonly id: number;
  /** SHA-256 of the hash before it and of the line's canonical form, in hexadecimal. */
  readonly hash: string;
}

/** Which lines are asked for; absent members ask for all. */
export const auditFilterSchema = z.object({
  actor: z.string().max(200).optional(),
  action: z.string().max(200).optional(),
  objectKind: z.enum(auditObjects).optional(),
  /** A part of the subject, or of the id of the object or its cluster; case is ignored. */
  object: z.string().max(200).optional(),
  outcome: z.enum(auditOutcomes).optional(),
  /** Not before this time, ISO 8601 in UTC. */
  from: z.iso.datetime().optional(),
  /** Before this time, ISO 8601 in UTC. */
  to: z.iso.datetime().optional(),
});
export type AuditFilter = z.infer<typeof auditFilterSchema>;

export const auditFormats = ["jsonl", "csv"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/** Lines newest first. */
export interface AuditPage {
  readonly lines: readonly AuditRecord[];
  /** Lines that the filter asks for, on all pages. */
  readonly total: number;
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
}

/** What the lines of the audit have, for a choice of filters, and whether its end is as it was last noted. */
export interface AuditOverview {
  readonly actors: readonly string[];
  readonly actions: readonly string[];
  readonly lines: number;
  readonly headHash: string;
  /** Why the end of the audit is not as it was last noted, in a sentence; null: it is. */
  readonly headProblem: string | null;
}
