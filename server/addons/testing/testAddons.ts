import { join } from "node:path";
import { createAddonKeeper } from "../addonKeeper";

/** The folder of add-ons that tests share; it is filled once. */
export const testAddonsFolder = join(import.meta.dirname, "../../../node_modules/.cache/weir-addons");

/**
 * Installs an add-on for tests unless it is there. Where the package registry cannot be reached the reason is printed and returned, and
 * tests that need it are skipped; every other failure is thrown.
 */
export async function ensureTestAddon(name: string): Promise<string | null> {
  const state = await createAddonKeeper(testAddonsFolder).install(name);
  if (state.kind === "ready") return null;
  const reason = state.kind === "failed" ? state.reason : `The add-on is ${state.kind}.`;
  if (state.kind !== "unsupported" && !(state.kind === "failed" && state.cause === "unreachable")) throw new Error(reason);
  process.stderr.write(`Skipped, because ${name} cannot be installed: ${reason}\n`);
  return reason;
}
