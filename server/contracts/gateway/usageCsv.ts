import { csvCell } from "@/solver/wording/csvCell";
import type { KeyUse } from "./gatewayKeys";

const columns = ["day", "key", "team", "project", "model", "requests", "inputTokens", "outputTokens", "usd", "unpriced"] as const;

/** The use of keys as CSV by RFC 4180 with a header row. */
export function usageCsv(rows: readonly KeyUse[]): string {
  const lines = rows.map((row) => columns.map((column) => csvCell(row[column] ?? null)).join(","));
  return [columns.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}
