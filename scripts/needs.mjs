// What tests need beyond this repository, and whether it is there. Tests and the run that counts their skips ask the same question.
import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Whether the thing of a kind with a name is there. */
const isThereBy = {
  file: (path) => existsSync(resolve(root, path)),
  package: (name) => isInstalled(name),
  program: (name) => (process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name))),
  variable: (name) => (process.env[name] ?? "") !== "",
};

const need = (kind, name) => ({ what: `${kind} ${name}`, isThere: isThereBy[kind](name) });

/** A file or folder, by its path from the root of this repository or from "/"; one beside the repository is named from its root. */
export function file(path) {
  const full = resolve(root, path);
  return need("file", full.startsWith(`${dirname(root)}/`) ? relative(root, full) : full);
}

/** A package that npm need not install. */
export const installed = (name) => need("package", name);

/** A program on the PATH. */
export const program = (name) => need("program", name);

/** A variable of the environment. */
export const variable = (name) => need("variable", name);

/** Anything else: the test alone can tell whether it is there. */
export const condition = (what, isThere) => ({ what, isThere });

/** Options of a Vitest test or suite that is skipped where one of its needs is missing; the report has what it lacks. */
export function needs(...all) {
  const lacks = lackOf(all);
  // A test inherits what its suite lacks only where it says nothing itself.
  return lacks.length === 0 ? {} : { skip: true, meta: { lacks } };
}

/** Skips a Vitest test that learns only while it runs that one of its needs is missing. */
export function skipWithout({ task, skip }, ...all) {
  const lacks = lackOf(all);
  if (lacks.length === 0) return;
  task.meta.lacks = lacks;
  skip(`lacks ${lacks.join(", ")}`);
}

/** What is missing of these needs. */
export const lackOf = (all) => all.filter(({ isThere }) => !isThere).map(({ what }) => what);

/** Whether what a skipped test lacked is there: true, false, or null where only the test can tell. */
export function isThere(what) {
  const [kind = "", ...name] = what.split(" ");
  return isThereBy[kind]?.(name.join(" ")) ?? null;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isInstalled(name) {
  try {
    createRequire(join(root, "package.json")).resolve(name);
    return true;
  } catch {
    return false;
  }
}
