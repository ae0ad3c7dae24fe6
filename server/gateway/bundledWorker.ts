import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A bundled worker: beside the bundle that this code is part of, else under WEIR_ROOT or the working directory. Throws where there is none. */
export function bundledWorker(name: string): string {
  const beside = dirname(fileURLToPath(import.meta.url));
  const folders = [beside, join(process.env.WEIR_ROOT ?? process.cwd(), "dist")];
  const file = folders.map((folder) => join(folder, `${name}.mjs`)).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`${name}.mjs is in none of ${folders.join(", ")}: run npm run bundle.`);
  return file;
}
