import type { Command } from "commander";
import { studioSettings } from "@/server/lib/studioSettings";
import { openStore } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { readWorkflowFile } from "../flags/workflowFlags";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "../flags/workloadFlags";
import { EXIT, type ExitCode, refuse } from "./exitCodes";
import { addImportAnswersCommand } from "./importAnswersCommand";
import { addImportResultsCommand } from "./importResultsCommand";
import { addImportSessionsCommand } from "./importSessionsCommand";

/** `weir import workflow`: makes a graph of another tool a workflow's document. Nothing is kept. */
function addImportWorkflowCommand(importing: Command, onExit: (code: ExitCode) => void): void {
  importing
    .command("workflow <file>")
    .description("print the workflow that a JSON document of Weir, LangGraph or DSPy comes to; what was assumed goes to stderr")
    .option("--json", "print the document with where it came from and what was assumed")
    .action((file: string, flags: { readonly json?: boolean }) => onExit(importWorkflow(file, flags.json === true)));
}

function importWorkflow(file: string, json: boolean): ExitCode {
  const read = readWorkflowFile("workflow", file);
  if (!read.ok) return refuse(read.message);
  const { document, origin, notes } = read;
  if (!json) for (const note of notes) process.stderr.write(`${note}\n`);
  process.stdout.write(`${JSON.stringify(json ? { document, origin, notes } : document, null, 2)}\n`);
  return EXIT.done;
}

/** `weir import`: puts a workload from files of any size into this machine's studio. */
export function addImportCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const importing = withWorkloadFlags(program.command("import"))
    .description("import a workload into the studio of this machine; files may be larger than a browser may send")
    .option("--name <name>", "the workload's name (default: family and tasks)")
    .action(async (flags: WorkloadFlags & { readonly name?: string }) => onExit(await importWorkload(flags)));
  addImportWorkflowCommand(importing, onExit);
  addImportAnswersCommand(importing, onExit);
  addImportResultsCommand(importing, onExit);
  addImportSessionsCommand(importing, onExit);
}

async function importWorkload(flags: WorkloadFlags & { readonly name?: string }): Promise<ExitCode> {
  const cards = readCards(flags);
  if (!cards.ok) return refuse(cards.message);
  const read = await readWorkload(flags, cards.catalogue);
  if (!read.ok) return refuse(read.message);
  const workload = { ...read.workload, name: flags.name ?? read.workload.name };
  const store = openStore(studioSettings(process.env).stateDir);
  try {
    const id = store.atomically(() => {
      const stored = storeWorkload(store, workload);
      const at = new Date().toISOString();
      store.audit.add({ at, actor: "command line", action: "import workload", subject: workload.name, detail: workload.origin.outcomes });
      return stored;
    });
    process.stdout.write(`${id}\n`);
    return EXIT.done;
  } finally {
    store.close();
  }
}
