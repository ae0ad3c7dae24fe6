import { readFileSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { KeyReference } from "./engineAccess";

export type Variables = Readonly<Record<string, string | undefined>>;

/** The text, or in one sentence without its full stop why there is none. */
type Read = { readonly text: string } | { readonly reason: string };

const mostKeyBytes = 16_384;

/** Characters that are allowed in a header after `Bearer`. */
const keyShape = /^[\x21-\x7e]{1,8192}$/;

/** Whether a file of this name would be inside a folder. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}

/** Why a file can never be read by this process, in a sentence; null if it can, or will once it is there. */
export function fileRefusal(file: string, variables: Variables): string | null {
  const folder = variables.WEIR_SECRETS_DIR;
  if (folder === undefined || folder === "" || isWithin(resolve(folder), resolve(folder, file))) return null;
  return `The file ${file} lies outside the folder of secrets (WEIR_SECRETS_DIR).`;
}

/** The path of a file within the folder of secrets, the same for every spelling. */
export function fileInSecrets(file: string, variables: Variables): string {
  const folder = resolve(variables.WEIR_SECRETS_DIR ?? "");
  return relative(folder, resolve(folder, file));
}

/** The text of a file in the folder of secrets; links are followed as long as they stay in it. */
export function readWithin(file: string, mostBytes: number, variables: Variables): Read {
  const folder = variables.WEIR_SECRETS_DIR;
  if (folder === undefined || folder === "") return { reason: `WEIR_SECRETS_DIR is not set, so that the file ${file} cannot be read` };
  try {
    const refusal = fileRefusal(file, variables);
    if (refusal !== null) return { reason: refusal.slice(0, -1) };
    const path = realpathSync(resolve(folder, file));
    if (!isWithin(realpathSync(folder), path)) return { reason: `The file ${file} leads out of the folder of secrets (WEIR_SECRETS_DIR)` };
    const found = statSync(path);
    if (!found.isFile()) return { reason: `${file} in the folder of secrets is no file` };
    if (found.size > mostBytes) return { reason: `The file ${file} has more than ${mostBytes} bytes` };
    return { text: readFileSync(path, "utf8") };
  } catch (error) {
    return { reason: `The file ${file} in the folder of secrets cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** The secret that a reference names; the reason repeats nothing of it. */
export function readSecret(key: KeyReference, variables: Variables): Read {
  const read = "file" in key ? readWithin(key.file, mostKeyBytes, variables) : { text: variables[key.environment] ?? "" };
  if ("reason" in read) return read;
  const where = "file" in key ? `The key file ${key.file}` : `The key's variable ${key.environment}`;
  const text = read.text.trim();
  if (text === "") return { reason: `${where} ${"file" in key ? "is empty" : "is not set"}` };
  if (!keyShape.test(text)) return { reason: `${where} holds no key: a key is one line of printable ASCII without spaces` };
  return { text };
}
