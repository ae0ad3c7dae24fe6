import { z } from "zod";
import { type AuditFormat, auditObjects, auditOutcomes } from "@/server/contracts/studio/audit";
import { csvCell } from "@/solver/wording/csvCell";
import type { LinkedRecord } from "./verifyChain";

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const linkedRecordSchema = z.object({
  id: z.int().nonnegative(),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  subject: z.string(),
  detail: z.string(),
  outcome: z.enum(auditOutcomes),
  objectKind: z.enum(auditObjects).nullable(),
  objectId: z.string().nullable(),
  clusterId: z.string().nullable(),
  role: z.string().nullable(),
  address: z.string().nullable(),
  times: z.int().positive(),
  previous: hash,
  hash,
}) satisfies z.ZodType<LinkedRecord>;

const columns = linkedRecordSchema.keyof().options;

/**
 * Lines of the audit as the text of a file, in the order of the chain: JSON lines, which `weir audit verify --file` reads, or CSV by RFC 4180
 * with a header row, for people.
 */
export function* exportLines(records: Iterable<LinkedRecord>, format: AuditFormat): Generator<string> {
  if (format === "csv") yield `${columns.join(",")}\r\n`;
  for (const record of records) {
    if (format === "csv") yield `${columns.map((name) => csvCell(record[name])).join(",")}\r\n`;
    else yield `${JSON.stringify(Object.fromEntries(columns.map((name) => [name, record[name]])))}\n`;
  }
}

/** A line of an exported file; null: it is not one. */
export function readExportedLine(text: string): LinkedRecord | null {
  try {
    return linkedRecordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
