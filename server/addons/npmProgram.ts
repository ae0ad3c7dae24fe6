import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** A program with its first arguments; never read by a shell. */
export interface NpmProgram {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * npm as a script that this Node runs: the one that runs Weir, the one beside Node, or the first one on the path. On Windows `npm` itself is
 * a batch file, which cannot be started without a shell.
 *
 * @returns null if there is none.
 */
export function npmProgram(environment: Readonly<Record<string, string | undefined>>, node = process.execPath): NpmProgram | null {
  const folders = [dirname(realPath(node)), dirname(node), ...(environment.PATH ?? environment.Path ?? "").split(delimiter)];
  const scripts = [
    ...(environment.npm_execpath?.endsWith("npm-cli.js") === true ? [environment.npm_execpath] : []),
    ...folders.flatMap((folder) => [
      join(folder, "node_modules", "npm", "bin", "npm-cli.js"),
      join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
      ...npmScriptAt(join(folder, "npm")),
    ]),
  ];
  const script = scripts.find((path) => existsSync(path));
  return script === undefined ? null : { file: node, args: [script] };
}

/** Distributions link `npm` to its script, wherever that is. */
const npmScriptAt = (path: string): readonly string[] => [realPath(path)].filter((real) => real.endsWith("npm-cli.js"));

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
