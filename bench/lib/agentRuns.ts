import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { type RecordedRun, readAgentRuns } from "@/server/lab/agentRuns";
import { data } from "./compareData";
import { once } from "./once";

const RUNS = join(data, "workflows", "runs.csv");
const CALLS = join(data, "workflows", "calls.csv");

let asked = false;

/** Whether recorded runs of agents are available; reports once that they are not. */
export function agentRunsPresent(): boolean {
  const present = existsSync(RUNS) && existsSync(CALLS);
  if (!present && !asked) process.stderr.write(`Skipped: recorded runs of agents need ${RUNS} and ${CALLS}\n`);
  asked = true;
  return present;
}

/** ChatDev's recorded runs. @throws Error with a sentence where they cannot be read. */
export const agentRuns = once(async (): Promise<readonly RecordedRun[]> => {
  const read = await readAgentRuns({
    calls: { name: "calls.csv", stream: createReadStream(CALLS) },
    runs: { name: "runs.csv", stream: createReadStream(RUNS) },
  });
  if (!read.ok) throw new Error(read.message);
  return read.runs;
});
