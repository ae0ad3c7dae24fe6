import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { type ClusterConnection, readConnection } from "@/server/fleet/connection";
import { readConnectionText } from "@/server/fleet/connectionText";
import { type ExportFormat, exportFormats, exportPlan } from "@/server/fleet/exportPlan";
import { studioSettings } from "@/server/lib/studioSettings";
import { readPlan } from "@/server/planning/planner/readPlan";
import { openStore } from "@/server/store/store";
import type { Plan } from "@/solver/plan/plan";
import { EXIT, type ExitCode, refuse } from "./exitCodes";

interface ExportFlags {
  readonly format: ExportFormat;
  readonly cluster?: string;
  readonly connection?: string;
  readonly out?: string;
  readonly json: boolean;
}

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string };

/** `weir export`: a plan as files for GitOps or for hands, by the same code that the studio's page uses. */
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
    .action((plan: string, flags: ExportFlags) => onExit(write(plan, flags)));
}

function write(plan: string, flags: ExportFlags): ExitCode {
  const found = readPlanOf(plan);
  if (!found.ok) return refuse(found.message);
  const clusterId = flags.cluster ?? found.value.inputs.cluster.id;
  const connection = flags.connection === undefined ? keptConnection(clusterId) : readConnectionFile(flags.connection);
  if (!connection.ok) return refuse(connection.message);
  const exported = exportPlan(found.value, { connection: connection.value, clusterId, format: flags.format });
  if (!exported.ok) return refuse(exported.message);
  const text = flags.json ? `${JSON.stringify(exported.value, null, 2)}\n` : exported.value.text;
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

function readPlanOf(plan: string): Read<Plan> {
  if (!existsSync(plan)) {
    const kept = inStore((store) => store.plans.get(plan));
    return kept === null
      ? { ok: false, message: `${plan} is neither a file nor a plan that this studio keeps.` }
      : { ok: true, value: kept };
  }
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(plan, "utf8"));
  } catch {
    return { ok: false, message: `${plan} is no JSON file that can be read.` };
  }
  const read = readPlan(document);
  return read.ok ? { ok: true, value: read.plan } : { ok: false, message: `${plan}: ${read.message}` };
}

function readConnectionFile(path: string): Read<ClusterConnection> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { ok: false, message: `--connection: ${path} is no file that can be read.` };
  }
  const read = readConnectionText(text);
  return read.ok ? { ok: true, value: read.connection } : { ok: false, message: `${basename(path)}: ${read.faults[0]?.sentence}` };
}

function keptConnection(clusterId: string): Read<ClusterConnection> {
  const row = inStore((store) => store.clusters.get(clusterId));
  if (row === null)
    return { ok: false, message: `This studio has no cluster ${clusterId}: name one with --cluster, or give its --connection.` };
  if (row.connection === null)
    return { ok: false, message: `${row.spec.name} has no connection that says what engines load: give one with --connection.` };
  return readConnection(row.connection);
}

function inStore<Found>(look: (store: ReturnType<typeof openStore>) => Found): Found {
  const store = openStore(studioSettings(process.env).stateDir);
  try {
    return look(store);
  } finally {
    store.close();
  }
}
