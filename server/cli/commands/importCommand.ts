import type { Command } from "commander";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { EXIT, type ExitCode, must } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";
import { readWorkflowFile } from "../flags/workflowFlags";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "../flags/workloadFlags";
import { addImportAnswersCommand } from "./importAnswersCommand";
import { addImportResultsCommand } from "./importResultsCommand";
import { addImportSessionsCommand } from "./importSessionsCommand";

/** `weir import workflow`: converts a graph of another tool to a workflow's document. Nothing is stored. */
function addImportWorkflowCommand(importing: Command, onExit: (code: ExitCode) => void): void {
  importing
    .command("workflow <file>")
    .description("print the workflow that a JSON document of Weir, LangGraph or DSPy comes to; what was assumed goes to stderr")
    .option("--json", "print the document with where it came from and what was assumed")
    .action((file: string, flags: { readonly json?: boolean }) => onExit(importWorkflow(file, flags.json === true)));
}

function importWorkflow(file: string, json: boolean): ExitCode {
  const { document, origin, notes } = readWorkflowFile("workflow", file);
  if (!json) for (const note of notes) process.stderr.write(`${note}\n`);
  process.stdout.write(`${JSON.stringify(json ? { document, origin, notes } : document, null, 2)}\n`);
  return EXIT.done;
}

/** `weir import`: imports a workload from files of any size into this machine's studio. */
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
  const read = must(await readWorkload(flags, readCards(flags).catalogue)).workload;
  const workload = { ...read, name: flags.name ?? read.name };
  const id = await withStore((store) =>
    store.atomically(() => {
      store.audit.noting("workload")("command line", "import workload", workload.name, workload.origin.outcomes);
      return storeWorkload(store, workload);
    }),
  );
  process.stdout.write(`${id}\n`);
  return EXIT.done;
}
