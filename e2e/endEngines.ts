import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { processTable } from "../server/processes/processIdentity";
import type { RunningStudio } from "./fixtures";

/** Ends the studio, then every engine that its plans left running: engines outlive the studio, by design. */
export async function endEngines({ launcher, stateDir }: RunningStudio): Promise<void> {
  if (launcher.exitCode === null) {
    launcher.kill("SIGTERM");
    await once(launcher, "exit");
  }
  const folder = join(stateDir, "engines");
  if (!existsSync(folder)) return;
  const logs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".log"));
  for (const log of logs) for (const pid of processTable.writersOf(join(folder, log))) process.kill(pid, "SIGKILL");
}
