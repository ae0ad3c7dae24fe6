import type { LabRun } from "@/server/contracts/studio";

/**
 * A run as it is now, of which only the cells that are not known are read, all in the order of the description: whoever was done first, sums
 * over them are the same to the last digit. One that was forgotten and made anew meanwhile is read whole.
 *
 * @param read asks for the run without the first `since` of its cells.
 * @returns null where there is no such run.
 */
export async function joinRun(known: LabRun | null, read: (since: number) => Promise<LabRun | null>): Promise<LabRun | null> {
  const run = await read(known?.cells.length ?? 0);
  if (run === null) return null;
  if (known !== null && known.createdAt !== run.createdAt) return joinRun(null, read);
  const cells = [...(known?.cells ?? []), ...run.cells];
  return { ...run, cells: cells.sort((a, b) => a.seed - b.seed || a.rate - b.rate || a.system - b.system) };
}
