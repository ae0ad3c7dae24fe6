import type { Command } from "commander";
import { EXIT, type ExitCode, refuse } from "./exitCodes";
import { readWorkflowFile } from "./workflowFlags";

/** `weir import workflow`: makes a graph of another tool a workflow's document. Nothing is kept. */
export function addImportWorkflowCommand(importing: Command, onExit: (code: ExitCode) => void): void {
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
