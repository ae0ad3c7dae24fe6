import type { AuditObject } from "@/server/contracts/studio";
import { codecOf, text, type ViewOf, word } from "../url/addressFields";

const LONGEST = 200;

/** What an act can be about, in words. */
export const objectWords: Readonly<Record<AuditObject, string>> = {
  plan: "plan",
  application: "roll-out",
  proposal: "proposal",
  schedule: "schedule",
  cluster: "cluster",
  gateway: "gateway",
  capture: "captured prompts",
  workload: "workload",
  prompts: "sample of prompts",
  profile: "profile",
  batch: "batch",
  ensemble: "ensemble",
  workflow: "workflow",
  predictor: "predictor",
  calibration: "engine profile",
  card: "card",
  "lab run": "lab run",
  load: "load",
  session: "session",
  person: "person",
  token: "API token",
  key: "gateway key",
  audit: "audit",
};

export const auditObjects = Object.keys(objectWords) as readonly AuditObject[];

/** A day such as 2026-01-31; null: none. */
const day = {
  parse: (value: string | null) =>
    value !== null && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) && isDay(value) ? value : null,
  format: (value: string | null) => value ?? undefined,
};

/** February has no 30th: `Date` would take it for a day of March. */
const isDay = (value: string): boolean => new Date(value).toISOString().startsWith(value);

/** The address of the audit page: the filter, and the cursor of the page that is shown. */
export const auditCodec = codecOf({
  who: text(LONGEST),
  act: text(LONGEST),
  kind: word(auditObjects),
  object: text(LONGEST),
  outcome: word(["done", "refused"]),
  /** Days of this browser, both included. */
  from: day,
  to: day,
  /** null: the newest lines. */
  after: text(100),
});

export type AuditView = ViewOf<typeof auditCodec>;
