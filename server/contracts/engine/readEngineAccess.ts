import { X509Certificate } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { EngineAccess } from "./engineAccess";

/**
 * A usable key and authorities, each null if none is configured; otherwise the reason, in one sentence without its full stop that contains
 * nothing of their content.
 */
export type AccessReading =
  | { readonly ok: true; readonly key: string | null; readonly ca: string | null }
  | { readonly ok: false; readonly reason: string };

type Variables = Readonly<Record<string, string | undefined>>;

/** A changed file is read again within this time. */
const keptMs = 1_000;

const most = { key: 16_384, ca: 1_000_000 } as const;

/** Characters that are allowed in a header after `Bearer`. */
const keyShape = /^[\x21-\x7e]{1,8192}$/;

const nothing: AccessReading = { ok: true, key: null, ca: null };

/** Whether a file of this name would be inside a folder. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}

/** Why a document's access can never be used by this process, in one sentence; null if it can, or will once a file or variable is there. */
export function accessRefusal({ key, caFile }: EngineAccess, variables: Variables = process.env): string | null {
  const files = [...(key !== undefined && "file" in key ? [key.file] : []), ...(caFile === undefined ? [] : [caFile])];
  const folder = variables.WEIR_SECRETS_DIR;
  if (folder === undefined || folder === "") return null;
  const astray = files.find((file) => !isWithin(resolve(folder), resolve(folder, file)));
  return astray === undefined ? null : `The file ${astray} lies outside the folder of secrets (WEIR_SECRETS_DIR).`;
}

/** Reads the access to an engine. May be called often: files are read again once a second at most. */
export class EngineAccessReader {
  readonly #access: EngineAccess;
  readonly #variables: Variables;
  #reading: AccessReading = nothing;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(access: EngineAccess, variables: Variables = process.env) {
    this.#access = access;
    this.#variables = variables;
  }

  get current(): AccessReading {
    const nowMs = performance.now();
    if (nowMs - this.#readMs >= keptMs) {
      this.#reading = readAccess(this.#access, this.#variables);
      this.#readMs = nowMs;
    }
    return this.#reading;
  }
}

function readAccess({ key, caFile }: EngineAccess, variables: Variables): AccessReading {
  let secret: string | null = null;
  if (key !== undefined) {
    const read = "file" in key ? readWithin(key.file, most.key, variables) : { text: variables[key.environment] ?? "" };
    if ("reason" in read) return { ok: false, reason: read.reason };
    const where = "file" in key ? `The key file ${key.file}` : `The key's variable ${key.environment}`;
    const what = "file" in key ? "is empty" : "is not set";
    secret = read.text.trim();
    if (secret === "") return { ok: false, reason: `${where} ${what}` };
    if (!keyShape.test(secret)) return { ok: false, reason: `${where} holds no key: a key is one line of printable ASCII without spaces` };
  }
  if (caFile === undefined) return { ok: true, key: secret, ca: null };
  const read = readWithin(caFile, most.ca, variables);
  if ("reason" in read) return { ok: false, reason: read.reason };
  try {
    new X509Certificate(read.text);
  } catch {
    return { ok: false, reason: `The file ${caFile} holds no certificate in PEM form` };
  }
  return { ok: true, key: secret, ca: read.text };
}

/** The text of a file in the folder of secrets; links are followed as long as they stay in it. */
function readWithin(file: string, mostBytes: number, variables: Variables): { readonly text: string } | { readonly reason: string } {
  const folder = variables.WEIR_SECRETS_DIR;
  if (folder === undefined || folder === "") return { reason: `WEIR_SECRETS_DIR is not set, so that the file ${file} cannot be read` };
  try {
    const refusal = accessRefusal({ caFile: file }, variables);
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
