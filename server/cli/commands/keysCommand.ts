import type { Command } from "commander";
import { gatewayUsageSchema, type KeyUse } from "@/server/contracts/gateway/gatewayKeys";
import { usageCsv } from "@/server/contracts/gateway/usageCsv";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { gatewayAdmin } from "./gatewayAdmin";

interface UsageFlags {
  readonly from?: string;
  readonly to?: string;
  readonly csv: boolean;
  readonly json: boolean;
}

/** `weir keys`: the use of the gateway's API keys; calls the gateway directly, so that no studio is needed. */
export function addKeysCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const keys = program.command("keys").description("API keys of the gateway's clients; works without the studio");
  keys
    .command("usage")
    .description("print requests, tokens and cost by day, key and model; days are those of UTC")
    .option("--from <day>", "the first day, such as 2026-01-01 (default: the first one that is kept)")
    .option("--to <day>", "the last day (default: today)")
    .option("--csv", "print them as CSV", false)
    .option("--json", "print them as JSON", false)
    .action(async (flags: UsageFlags) => onExit(await usage(flags)));
}

async function usage({ from, to, csv, json }: UsageFlags): Promise<ExitCode> {
  if (csv && json) return refuse("Give --csv or --json, not both.");
  const range = new URLSearchParams({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
  const answer = await gatewayAdmin()(`/usage?${range}`, { schema: gatewayUsageSchema });
  if (!answer.ok) return refuse(answer.message, EXIT.failed);
  const rows = answer.value.value?.rows ?? [];
  process.stdout.write(csv ? usageCsv(rows) : json ? `${JSON.stringify(rows, null, 2)}\n` : described(rows));
  return EXIT.done;
}

function described(rows: readonly KeyUse[]): string {
  if (rows.length === 0) return "No request with a key was answered in that time.\n";
  const lines = rows.map(({ day, key, model, requests, inputTokens, outputTokens, usd, unpriced }) => [
    // A key's name is arbitrary, and a terminal interprets control characters.
    ...[day, key.replace(/\p{Cc}/gu, " "), model],
    ...[requests, inputTokens, outputTokens].map(String),
    `${usd.toFixed(4)}${unpriced > 0 ? ` + ${unpriced} without a price` : ""}`,
  ]);
  const usd = rows.reduce((sum, row) => sum + row.usd, 0);
  return `${textTable([["day", "key", "model", "requests", "tokens read", "tokens written", "USD"], ...lines])}  In all ${usd.toFixed(2)} USD.\n`;
}
