import type { Command } from "commander";
import { storeWorkload } from "@/server/api/workloadService";
import { openStore } from "@/server/store/store";
import { studioSettings } from "@/server/studioSettings";
import { EXIT, type ExitCode, refuse } from "./exitCodes";
import { addImportAnswersCommand } from "./importAnswersCommand";
import { addImportResultsCommand } from "./importResultsCommand";
import { addImportSessionsCommand } from "./importSessionsCommand";
import { addImportWorkflowCommand } from "./importWorkflowCommand";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "./workloadFlags";

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
