import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { type AuditFormat, auditFilterSchema, auditFormats, auditObjects, auditOutcomes } from "@/server/contracts/studio/audit";
import { studioSettings } from "@/server/lib/studioSettings";
import { textLines } from "@/server/lib/textLines";
import { exportLines, readExportedLine } from "@/server/store/audit/exportLines";
import { type ChainReport, createChainCheck, faulty } from "@/server/store/audit/verifyChain";
import { auditRecords, verifyAudit } from "@/server/store/verifyAudit";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";

interface VerifyFlags {
  readonly file?: string;
  readonly state?: string;
  readonly head?: string;
  readonly json: boolean;
}

type ExportFlags = Partial<Record<"actor" | "action" | "objectKind" | "object" | "outcome" | "from" | "to" | "state", string>> & {
  readonly format: AuditFormat;
};

/** `weir audit`: verifies and exports the audit; neither writes to the store. */
export function addAuditCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const audit = program.command("audit").description("verify or export the audit of this machine's studio");
  audit
    .command("verify")
    .description("recompute every hash of the audit, and name the first bad line; exit code 1 where there is one")
    .option("--file <export.jsonl>", "verify an exported file; the store too only with --state")
    .option("--state <folder>", "the state folder (default: that of this machine's studio, unless --file is given)")
    .option("--head <hash>", "a line must have this hash, which was noted elsewhere as the last one")
    .option("--json", "print the result as JSON", false)
    .action(async (flags: VerifyFlags) => onExit(await verify(flags)));
  audit
    .command("export")
    .description("print the audit in the order of its chain")
    .addOption(new Option("--format <format>", "JSON lines, which can be verified, or CSV").choices(auditFormats).default("jsonl"))
    .option("--actor <name>", "only what this person or part of Weir did or tried")
    .option("--action <name>", "only this act")
    .addOption(new Option("--object-kind <kind>", "only acts on objects of this kind").choices(auditObjects))
    .option("--object <text>", "only where the object's name or id has this text")
    .addOption(new Option("--outcome <outcome>", "only what was done, or refused").choices(auditOutcomes))
    .option("--from <time>", "not before this time, such as 2026-01-31 or 2026-01-31T12:00:00Z")
    .option("--to <time>", "before this time")
    .option("--state <folder>", "the state folder (default: that of this machine's studio)")
    .action(async (flags: ExportFlags) => onExit(await writeExport(flags)));
}

async function verify({ file, state, head, json }: VerifyFlags): Promise<ExitCode> {
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head)) return refuse("--head is no hash: give 64 hexadecimal digits.");
  const reports: (readonly [string, ChainReport])[] = [];
  const lines = new Map<number, string>();
  // With both, the noted hash is looked for in the store: it has more lines than the file.
  const usesStore = file === undefined || state !== undefined;
  if (file !== undefined) reports.push([file, await verifyFile(file, lines, usesStore ? undefined : head)]);
  const stateDir = state ?? studioSettings(process.env).stateDir;
  if (usesStore) reports.push([stateDir, verifyAudit(stateDir, { lines, head })]);
  if (json)
    process.stdout.write(
      `${JSON.stringify(
        reports.map(([of, report]) => ({ of, ...report })),
        null,
        2,
      )}\n`,
    );
  else for (const [of, report] of reports) process[report.ok ? "stdout" : "stderr"].write(`${of}: ${described(report)}\n`);
  return reports.every(([, { ok }]) => ok) ? EXIT.done : EXIT.failed;
}

/** @param lines gets the hashes of the file's lines by id */
async function verifyFile(file: string, lines: Map<number, string>, head: string | undefined): Promise<ChainReport> {
  if (!existsSync(file)) return refuse(`--file: there is no file ${file}.`);
  const check = createChainCheck("some", { head });
  for await (const part of textLines(createReadStream(file), "as they are")) {
    for (const read of part) {
      const record = "text" in read ? readExportedLine(read.text) : null;
      if (record === null) return faulty("unreadable", `Line ${read.line} of the file is no line of an exported audit in JSON.`);
      const fault = check.add(record);
      if (fault !== null) return { ok: false, fault };
      lines.set(record.id, record.hash);
    }
  }
  return check.end();
}

function described(report: ChainReport): string {
  if (!report.ok) return report.fault.says;
  const { lines, first, last, gaps } = report.extent;
  if (first === null || last === null) return "no lines.";
  const count = `${lines} ${lines === 1 ? "line" : "lines"}, each as it was written, of ${first.at} to ${last.at}`;
  const left = gaps === 0 ? "" : ` In ${gaps} ${gaps === 1 ? "place" : "places"} lines are left out, as by a filter.`;
  return `${count}.${left} The last is line ${last.id} with the hash ${last.hash}.`;
}

async function writeExport({ format, state, from, to, ...given }: ExportFlags): Promise<ExitCode> {
  const times = { ...(from !== undefined && { from: time("--from", from) }), ...(to !== undefined && { to: time("--to", to) }) };
  const parsed = auditFilterSchema.safeParse({ ...given, ...times });
  if (!parsed.success) return refuse(`--${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}.`);
  const stateDir = state ?? studioSettings(process.env).stateDir;
  for (const text of exportLines(auditRecords(stateDir, parsed.data), format))
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  return EXIT.done;
}

/** @throws Refusal where that is no time. */
function time(flag: string, text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? refuse(`${flag} is no time: write 2026-01-31 or 2026-01-31T12:00:00Z.`) : new Date(ms).toISOString();
}
