import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientAnswer, ClientRun, ClientTask } from "./clientTask";

/**
 * Runs a task in the client process.
 *
 * @param core the processor core it is kept on; null: any.
 * @throws when the process fails.
 */
export async function runClient(task: ClientTask, core: number | null): Promise<ClientRun> {
  const folder = mkdtempSync(join(tmpdir(), "weir-real-client-"));
  try {
    const [taskFile, answersFile] = [join(folder, "task.json"), join(folder, "answers.json")];
    writeFileSync(taskFile, JSON.stringify(task));
    const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "realClient.mjs");
    const command = [process.execPath, bundle, taskFile, answersFile];
    const [program = "", ...args] = core === null ? command : ["taskset", "-c", String(core), ...command];
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`The client of the benchmark ended with ${code}.`);
    const answers = JSON.parse(readFileSync(answersFile, "utf8")) as ClientAnswer[];
    const due = task.requests.filter(({ atSeconds }) => task.inFlight !== null || atSeconds <= task.seconds).length;
    return { answers, unanswered: task.inFlight === null ? due - answers.length : 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
