import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const installLimitMs = 600_000;

/**
 * A folder with packages, named by what is in it, so that later runs find it: `install` fills a new one.
 * @returns null where they cannot be installed, as without a registry.
 */
async function folderWith(packages: readonly string[], install: (folder: string) => Promise<unknown>): Promise<string | null> {
  const name = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), "weir-test-clients", name);
  // Written last: an installation that was cut short is made again.
  const whole = join(folder, "installed");
  if (existsSync(whole)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    await install(folder);
    await writeFile(whole, packages.join("\n"));
    return folder;
  } catch {
    await rm(folder, { recursive: true, force: true });
    return null;
  }
}

/** The Python of an environment of its own with these packages, `name==version` each; null where they cannot be installed. */
export async function pythonWith(packages: readonly string[]): Promise<string | null> {
  const pythonIn = (folder: string): string => join(folder, "bin", "python3");
  const folder = await folderWith(packages, async (into) => {
    await run("python3", ["-m", "venv", into], { timeout: installLimitMs });
    await run(pythonIn(into), ["-m", "pip", "install", "--quiet", ...packages], { timeout: installLimitMs });
  });
  return folder && pythonIn(folder);
}

/** A folder in which modules find these packages, `name@version` each; null where they cannot be installed. */
export const nodeModulesWith = (packages: readonly string[]): Promise<string | null> =>
  folderWith(packages, async (into) => {
    await writeFile(join(into, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], { cwd: into, timeout: installLimitMs });
  });
