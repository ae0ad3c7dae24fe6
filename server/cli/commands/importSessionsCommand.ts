import { createReadStream, existsSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { keepSessions } from "@/server/api/ensembles/keepSessions";
import { createCardStore } from "@/server/cards/cardStore";
import { studioSettings } from "@/server/lib/studioSettings";
import { importSessions, sessionColumns } from "@/server/planning/imports/importSessions";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";

/**
 * `weir import sessions`: stores sessions that were measured elsewhere, for example in job files or profiling runs, so that placements are
 * fitted to them.
 */
export function addImportSessionsCommand(importing: Command, onExit: (code: ExitCode) => void): void {
  importing
    .command("sessions <file>")
    .description(
      `keep a CSV of measured sessions (${sessionColumns.join(", ")}; the last three where known), which placements of ensembles are fitted to: seconds from the first prompt to the last answer, a row of 0 prompts is a load alone`,
    )
    .action(async (file: string) => onExit(await importFile(file)));
}

async function importFile(file: string): Promise<ExitCode> {
  if (!existsSync(file)) return refuse(`There is no file ${file}.`);
  const name = basename(file);
  const { catalogue } = createCardStore(studioSettings(process.env).stateDir).read();
  const { rows } = must(await importSessions({ name, stream: createReadStream(file) }, catalogue));
  const kept = await withStore((store) => keepSessions(store, rows, { actor: "command line", from: name }));
  process.stdout.write(`Kept ${kept}.\n`);
  return EXIT.done;
}
