import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { lifeOf } from "./engineLife";
import { engineRecordsIn } from "./engineRecords";
import { processTable } from "./processIdentity";

/** An engine of another cluster of this studio on this host. */
export interface Neighbour extends EngineOrder {
  /** Id of that cluster; it may have been detached, but its engines continue. */
  readonly clusterId: string;
}

/** Running engines that other clusters started on this host, from the records next to a cluster's own folder. */
export function neighboursOf(folder: string): readonly Neighbour[] {
  const above = dirname(folder);
  if (!existsSync(above)) return [];
  const folders = readdirSync(above, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== basename(folder));
  return folders.flatMap(({ name }) => {
    const records = engineRecordsIn(join(above, name));
    return records.all().flatMap((record): readonly Neighbour[] => {
      // An engine without a process is about to be started: its state is that cluster's to report.
      const life = record.process === null ? null : lifeOf(record, records, processTable);
      return life === null || life.state === "ended" ? [] : [{ ...record.order, clusterId: name }];
    });
  });
}
