import { X509Certificate } from "node:crypto";
import type { EngineAccess } from "./engineAccess";
import { EngineAccessError } from "./engineAccessError";
import { fileRefusal, readSecret, readWithin, type Variables } from "./readSecret";
import { type SecretOrigins, secretOrigins } from "./secretOrigins";

/** A usable key and authorities, each null if none is configured; or why there are none. Nothing of their content is in the error. */
export type AccessReading =
  | { readonly ok: true; readonly key: string | null; readonly ca: string | null }
  | { readonly ok: false; readonly error: EngineAccessError };

/** A changed file is read again within this time. */
const keptMs = 1_000;

const mostAuthorityBytes = 1_000_000;

/** Why a document's access can never be used by this process, in one sentence; null if it can, or will once a file or variable is there. */
export function accessRefusal({ key, caFile }: EngineAccess, variables: Variables = process.env): string | null {
  const files = [...(key !== undefined && "file" in key ? [key.file] : []), ...(caFile === undefined ? [] : [caFile])];
  return files.map((file) => fileRefusal(file, variables)).find((refusal) => refusal !== null) ?? null;
}

/** Reads the access to an engine. May be called often: files are read again once a second at most. */
export class EngineAccessReader {
  readonly #access: EngineAccess;
  readonly #variables: Variables;
  readonly #origins: SecretOrigins;
  #readings = new Map<string, AccessReading>();
  #readMs = Number.NEGATIVE_INFINITY;
  #version = 0;

  constructor(
    access: EngineAccess,
    { variables = process.env, origins = secretOrigins }: { readonly variables?: Variables; readonly origins?: SecretOrigins } = {},
  ) {
    this.#access = access;
    this.#variables = variables;
    this.#origins = origins;
  }

  /**
   * The access for requests to one origin. This is the only way to a key: one that was entered for other origins is not given out.
   *
   * @param origin scheme, host and port, as `URL.origin`.
   */
  at(origin: string): AccessReading {
    const nowMs = performance.now();
    if (nowMs - this.#readMs >= keptMs || this.#version !== this.#origins.version) {
      this.#readings = new Map();
      this.#readMs = nowMs;
      this.#version = this.#origins.version;
    }
    const known = this.#readings.get(origin);
    if (known !== undefined) return known;
    const reading = this.#read(origin);
    this.#readings.set(origin, reading);
    return reading;
  }

  #read(origin: string): AccessReading {
    const { key, caFile } = this.#access;
    const missing = (reason: string): AccessReading => ({ ok: false, error: new EngineAccessError(reason, "missing") });
    const secret = key === undefined ? null : readSecret(key, this.#variables);
    if (secret !== null && "reason" in secret) return missing(secret.reason);
    const refusal = key === undefined ? null : this.#origins.refusal({ key, origin });
    if (refusal !== null) return { ok: false, error: refusal };
    const found = { ok: true, key: secret?.text ?? null } as const;
    if (caFile === undefined) return { ...found, ca: null };
    const read = readWithin(caFile, mostAuthorityBytes, this.#variables);
    if ("reason" in read) return missing(read.reason);
    try {
      new X509Certificate(read.text);
    } catch {
      return missing(`The file ${caFile} holds no certificate in PEM form`);
    }
    return { ...found, ca: read.text };
  }
}
