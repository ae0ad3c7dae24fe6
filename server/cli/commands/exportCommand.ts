import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { type ClusterConnection, readConnection } from "@/server/fleet/connection";
import { readConnectionText } from "@/server/fleet/connectionText";
import { type ExportFormat, exportFormats, exportPlan } from "@/server/fleet/exportPlan";
import { readPlan } from "@/server/planning/planner/readPlan";
import type { Plan } from "@/solver/plan/plan";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";

interface ExportFlags {
  readonly format: ExportFormat;
  readonly cluster?: string;
  readonly connection?: string;
  readonly out?: string;
  readonly json: boolean;
}

/** `weir export`: a plan as files for GitOps or manual use, by the same code as the studio's page. */
export function addExportCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("export")
    .description("write a plan as Kubernetes manifests, as a Ray Serve configuration, or as command lines of vLLM and SGLang")
    .argument("<plan>", "a plan's document (JSON), or the id of a plan that this machine's studio keeps")
    .addOption(new Option("--format <format>", "what to write").choices(exportFormats).makeOptionMandatory())
    .option("--cluster <id>", "a cluster of this machine's studio, whose connection says what engines load (default: the plan's own)")
    .option("--connection <file>", "such a connection as YAML or JSON, without a studio")
    .option("--out <file>", "write there and not to stdout")
    .option("--json", "write JSON: a file name and the text", false)
    .action(async (plan: string, flags: ExportFlags) => onExit(await write(plan, flags)));
}

async function write(plan: string, flags: ExportFlags): Promise<ExitCode> {
  const found = await readPlanOf(plan);
  const clusterId = flags.cluster ?? found.inputs.cluster.id;
  const connection = flags.connection === undefined ? await keptConnection(clusterId) : readConnectionFile(flags.connection);
  const { value: file } = must(exportPlan(found, { connection, clusterId, format: flags.format }));
  const text = flags.json ? `${JSON.stringify(file, null, 2)}\n` : file.text;
  if (flags.out === undefined) process.stdout.write(text);
  else {
    try {
      writeFileSync(flags.out, text);
    } catch {
      return refuse(`--out: ${flags.out} cannot be written.`, EXIT.failed);
    }
  }
  return EXIT.done;
}

async function readPlanOf(plan: string): Promise<Plan> {
  if (!existsSync(plan)) {
    const kept = await withStore((store) => store.plans.get(plan));
    return kept ?? refuse(`${plan} is neither a file nor a plan that this studio keeps.`);
  }
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(plan, "utf8"));
  } catch {
    return refuse(`${plan} is no JSON file that can be read.`);
  }
  const read = readPlan(document);
  return read.ok ? read.plan : refuse(`${plan}: ${read.message}`);
}

function readConnectionFile(path: string): ClusterConnection {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return refuse(`--connection: ${path} is no file that can be read.`);
  }
  const read = readConnectionText(text);
  return read.ok ? read.connection : refuse(`${basename(path)}: ${read.faults[0]?.sentence}`);
}

async function keptConnection(clusterId: string): Promise<ClusterConnection> {
  const row = await withStore((store) => store.clusters.get(clusterId));
  if (row === null) return refuse(`This studio has no cluster ${clusterId}: name one with --cluster, or give its --connection.`);
  if (row.connection === null) refuse(`${row.spec.name} has no connection that says what engines load: give one with --connection.`);
  return must(readConnection(row.connection)).value;
}
