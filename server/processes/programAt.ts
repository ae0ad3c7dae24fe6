import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Path of the program that would be run under this name; null if there is none that may be run. */
export function programAt(program: string, path: string): string | null {
  const places = isAbsolute(program) || program.includes("/") ? [program] : path.split(":").map((folder) => join(folder, program));
  return places.find(mayBeRun) ?? null;
}

function mayBeRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
