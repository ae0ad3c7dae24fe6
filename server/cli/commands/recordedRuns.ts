import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LabSpec } from "@/server/contracts/studio/lab";
import { readAgentRuns } from "@/server/lab/agentRuns";
import { MOST_REQUESTS } from "@/server/lab/labRefusal";
import type { LabTask } from "@/server/lab/labTask";
import { refuse } from "../flags/exitCodes";
import { openFile } from "../flags/workloadFlags";

interface RecordedRuns {
  readonly recorded: NonNullable<LabTask["recorded"]>;
  readonly notes: readonly string[];
}

/** Most problems of lines and runs that are listed. */
const SAID_PROBLEMS = 3;

/**
 * Recorded runs of agents from a folder with `calls.csv` and `runs.csv`, for a comparison by a description.
 *
 * @throws Refusal if they cannot be read or compared: they contain lengths, but not whether a model would have been right.
 */
export async function readRecorded(folder: string, spec: LabSpec): Promise<RecordedRuns> {
  const knowing = spec.systems.findIndex(({ confidence }) => confidence !== "none");
  if (knowing >= 0)
    return refused(`system ${knowing + 1} uses confidence, and recorded runs do not say which answers were right: take confidence: none.`);
  const choosing = spec.systems.findIndex(({ policy }) => policy.kind === "just-in-time");
  if (choosing >= 0)
    return refused(
      `system ${choosing + 1} chooses models for the agents of declared workflows, and recorded runs are of none: leave it out.`,
    );
  const [callsFile, runsFile] = [join(folder, "calls.csv"), join(folder, "runs.csv")];
  const read = await openFile(callsFile, (calls) => openFile(runsFile, (runs) => readAgentRuns({ calls, runs })));
  if (!read.ok) return refused(read.message);
  if (read.runs.length < 2) return refused(`${folder} has one run that can be used; two are needed, one to learn from and one to serve.`);
  const calls = read.runs.reduce((sum, run) => sum + run.calls.length, 0);
  const raced = (calls / read.runs.length) * spec.programs * spec.systems.length * spec.rates.length * spec.seeds.length;
  if (raced > MOST_REQUESTS)
    return refused(
      `${Math.round(raced / 1e6)} million calls would be raced, ${MOST_REQUESTS / 1e6} million are the most: take fewer programs, systems, rates or seeds.`,
    );
  const id = createHash("sha256").update(JSON.stringify(read.runs)).digest("hex");
  return {
    recorded: { id, runs: read.runs },
    notes: [
      `Programs are ${read.runs.length} recorded runs of ${calls} calls in place of the description's mix, with the lengths of the model that ran written by every model, and nothing known of quality. Pauses between calls are not kept.`,
      ...read.notes,
      ...read.bad.slice(0, SAID_PROBLEMS).map((sentence) => `Left out: ${sentence}`),
      ...(read.bad.length > SAID_PROBLEMS ? [`Left out for other reasons too: ${read.bad.length - SAID_PROBLEMS} more.`] : []),
    ],
  };
}

const refused = (message: string): never => refuse(`--recorded: ${message}`);
