import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A bundled worker, or the process of an encoder: under WEIR_ROOT, the working directory, or beside the bundle that this code is part of. */
export function workerFile(
  name:
    | "planningWorker"
    | "calibrationWorker"
    | "capacityWorker"
    | "placeWorker"
    | "replayWorker"
    | "sampleWorker"
    | "promptsWorker"
    | "workloadWorker"
    | "labWorker"
    | "trainingWorker"
    | "encoderProcess",
): string {
  const beside = dirname(fileURLToPath(import.meta.url));
  const roots = [process.env.WEIR_ROOT, process.cwd(), dirname(beside)].filter((root) => root !== undefined);
  const file = roots.map((root) => join(root, "dist", `${name}.mjs`)).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`dist/${name}.mjs is in none of ${roots.join(", ")}: run npm run bundle, or set WEIR_ROOT.`);
  return file;
}
