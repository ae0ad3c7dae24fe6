import { lifeOf, signalEngine } from "../engineLife";
import { type EngineRecord, engineRecordsIn } from "../engineRecords";
import { processTable } from "../processIdentity";

/** Engines that were started with records in a folder and have not ended, by their records. */
export const recordedEngines = (folder: string): readonly EngineRecord[] =>
  engineRecordsIn(folder)
    .all()
    .filter(({ ended }) => !ended);

/** Kills every process of them. */
export function killEngines(folder: string): void {
  const records = engineRecordsIn(folder);
  for (const record of records.all()) {
    const life = lifeOf(record, records, processTable);
    if (life !== null) signalEngine(life, "SIGKILL");
  }
}
