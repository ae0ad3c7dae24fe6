import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { Addon } from "./addon";

/** The folder of all add-ons. */
export function addonsFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const { WEIR_ADDONS_DIR: own, WEIR_STATE_DIR: state, WEIR_ROOT: root } = environment;
  return resolve(own || join(state || join(root ?? process.cwd(), ".weir"), "addons"));
}

/** The file that is written last: a folder without it is not whole. */
export const recordName = "addon.json";

const recordSchema = z.object({ packages: z.record(z.string(), z.string()), bytes: z.number() });
export type AddonRecord = z.infer<typeof recordSchema>;

/** What an add-on's folder holds; null if it is absent, not whole, or of another version. */
export function installedRecord(folder: string, addon: Addon): AddonRecord | null {
  const record = readRecord(join(folder, addon.name));
  if (record === null) return null;
  const same = Object.entries(addon.packages).every(([name, version]) => record.packages[name] === version);
  return same ? record : null;
}

function readRecord(folder: string): AddonRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(join(folder, recordName), "utf8")));
  } catch {
    return null;
  }
}

/** Bytes of all files below a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
