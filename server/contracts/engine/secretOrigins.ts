import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { type KeyReference, originSchema, type SecretUse } from "./engineAccess";
import { EngineAccessError } from "./engineAccessError";
import { fileInSecrets, readSecret, type Variables } from "./readSecret";

/** By secret: a variable's name, or `file ` and the file's name in the folder of secrets. */
const documentSchema = z.object({ version: z.literal(1), secrets: z.record(z.string(), z.array(originSchema)) });

type Origins = Readonly<Record<string, readonly string[]>>;

/** A file changed by another process is read again within this time. */
const keptMs = 1_000;

const filePrefix = "file ";

const fileName = "secret-origins.json";

/**
 * The origins that each secret may be sent to, in a JSON file. A secret goes nowhere until an operator's act has entered it for an origin,
 * and to another origin only once that is allowed.
 */
export class SecretOrigins {
  #where: () => string;
  readonly #variables: Variables;
  #read: { readonly file: string; readonly atMs: number; readonly changed: string; readonly origins: Origins | null } | null = null;
  /** Changes with every act of this process. */
  version = 0;

  constructor(where: () => string, variables: Variables = process.env) {
    this.#where = where;
    this.#variables = variables;
  }

  /** Keeps them in a state folder, unless `WEIR_SECRET_ORIGINS` names a file. */
  keepIn(stateDir: string): void {
    this.#where = () => this.#variables.WEIR_SECRET_ORIGINS || join(stateDir, fileName);
  }

  get file(): string {
    return resolve(this.#where());
  }

  /** Why a secret is not sent to an origin; null: it is. */
  refusal(use: SecretUse): EngineAccessError | null {
    const origins = this.#origins();
    const way = `to allow that, add ${use.origin} to ${this.file}`;
    const name = this.nameOf(use.key);
    if (origins === null) return new EngineAccessError(`The key ${name} is sent nowhere: ${this.file} cannot be read`, "elsewhere");
    const entered = this.#enteredFor(use.key, origins);
    if (entered === null)
      return new EngineAccessError(
        `The key ${name} was entered for no address yet and is not sent to ${use.origin}: ${way}`,
        "unentered",
        use,
      );
    if (entered.includes(use.origin)) return null;
    const those = entered.length === 0 ? "no address" : entered.join(", ");
    return new EngineAccessError(`The key ${name} was entered for ${those} and is not sent to ${use.origin}: ${way}`, "elsewhere", use);
  }

  /** Enters secrets that were entered for no origin before. Returns what is new; uses of other secrets change nothing. */
  enter(uses: readonly SecretUse[]): readonly SecretUse[] {
    const origins = this.#origins();
    if (origins === null) return [];
    const fresh = uses.filter(({ key, origin }) => originSchema.safeParse(origin).success && this.#enteredFor(key, origins) === null);
    if (fresh.length > 0) this.allow(fresh);
    return fresh;
  }

  /**
   * Allows more origins.
   *
   * @throws Error if the file cannot be read or written.
   */
  allow(uses: readonly SecretUse[]): void {
    const origins = this.#origins();
    if (origins === null) throw new Error(`${this.file} cannot be read: correct it or remove it.`);
    const next: Record<string, readonly string[]> = { ...origins };
    for (const { key, origin } of uses) {
      const name = this.nameOf(key);
      next[name] = [...new Set([...(next[name] ?? []), origin])];
    }
    this.#write(next);
  }

  /** Enters what was in use before secrets had origins; only where there is no file yet. */
  begin(uses: readonly SecretUse[]): void {
    if (existsSync(this.file)) return;
    this.#write({});
    this.enter(uses);
  }

  /** The same for every spelling of a reference. */
  nameOf(key: KeyReference): string {
    return "file" in key ? `${filePrefix}${fileInSecrets(key.file, this.#variables)}` : key.environment;
  }

  /** null: it was entered for none. The same secret under another name is one secret. */
  #enteredFor(key: KeyReference, origins: Origins): readonly string[] | null {
    const own = origins[this.nameOf(key)];
    if (own !== undefined) return own;
    const secret = readSecret(key, this.#variables);
    if ("reason" in secret) return null;
    const same = Object.keys(origins).find((name) => {
      const other = readSecret(referenceOf(name), this.#variables);
      return "text" in other && other.text === secret.text;
    });
    return same === undefined ? null : (origins[same] ?? null);
  }

  /** null: the file cannot be read. */
  #origins(): Origins | null {
    const { file } = this;
    const nowMs = performance.now();
    if (this.#read?.file === file && nowMs - this.#read.atMs < keptMs) return this.#read.origins;
    const changed = stateOf(file);
    const origins = this.#read?.file === file && this.#read.changed === changed ? this.#read.origins : readOrigins(file);
    this.#read = { file, atMs: nowMs, changed, origins };
    return origins;
  }

  #write(origins: Origins): void {
    const { file } = this;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const fresh = `${file}.new`;
    writeFileSync(fresh, `${JSON.stringify({ version: 1, secrets: origins }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
    this.#read = null;
    this.version += 1;
  }
}

const referenceOf = (name: string): KeyReference =>
  name.startsWith(filePrefix) ? { file: name.slice(filePrefix.length) } : { environment: name };

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

function readOrigins(file: string): Origins | null {
  if (!existsSync(file)) return {};
  try {
    return documentSchema.parse(JSON.parse(readFileSync(file, "utf8"))).secrets;
  } catch {
    return null;
  }
}

/** Those of this process: in the file that `WEIR_SECRET_ORIGINS` names, or else in the state folder. */
export const secretOrigins = new SecretOrigins(() => {
  const { WEIR_SECRET_ORIGINS, WEIR_STATE_DIR, WEIR_ROOT } = process.env;
  return WEIR_SECRET_ORIGINS || join(WEIR_STATE_DIR || join(WEIR_ROOT || process.cwd(), ".weir"), fileName);
});
