import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { machine } from "./results";

/** With what and where a record was made. */
export interface Provenance {
  /** The last commit that changed what figures depend on; with `+changes` where files of it were changed since. */
  readonly commit: string;
  readonly machine: string;
}

/** What figures depend on: tables and documents may change between two parts of a run. */
const SOURCES = ["solver", "server", "bench/real", "bench/realRollOut", "bench/lib", "models"];

/** Of the code in the working directory, on this machine. */
export function provenance(root = process.env.WEIR_ROOT ?? process.cwd()): Provenance {
  try {
    const commit = git(root, ["log", "-1", "--format=%h", "--", ...SOURCES]);
    const changes = git(root, ["status", "--porcelain", "--", ...SOURCES]) === "" ? "" : "+changes";
    return { commit: `${commit}${changes}`, machine };
  } catch {
    return { commit: "unknown", machine };
  }
}

const git = (root: string, args: readonly string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();

/** SHA-256 of a document's JSON. */
export const hashOf = (document: unknown): string => createHash("sha256").update(JSON.stringify(document)).digest("hex");
