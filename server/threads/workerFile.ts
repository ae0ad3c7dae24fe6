import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A bundle that a process starts as a thread or as a separate process (`scripts/bundle.mjs`). */
export type BundleName =
  | "planningWorker"
  | "calibrationWorker"
  | "capacityWorker"
  | "mixWorker"
  | "placeWorker"
  | "replayWorker"
  | "sampleWorker"
  | "promptsWorker"
  | "workloadWorker"
  | "gatesWorker"
  | "labWorker"
  | "trainingWorker"
  | "redactionWorker"
  | "predictionWorker"
  | "lineWorker"
  | "jsonWorker"
  | "encoderProcess"
  | "gateway"
  | "gatewayParent"
  | "emulator";

/**
 * The file of a bundle: next to the bundle that contains this code, otherwise under WEIR_ROOT or the working directory.
 *
 * @param name or an absolute path, which is returned unchanged.
 * @throws Error if there is none.
 */
export function workerFile(name: BundleName | `/${string}`): string {
  if (isAbsolute(name)) return name;
  const roots = [process.env.WEIR_ROOT, process.cwd()].filter((root) => root !== undefined);
  const folders = [dirname(fileURLToPath(import.meta.url)), ...roots.map((root) => join(root, "dist"))];
  const file = folders.map((folder) => join(folder, `${name}.mjs`)).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`${name}.mjs is in none of ${folders.join(", ")}: run npm run bundle, or set WEIR_ROOT.`);
  return file;
}
