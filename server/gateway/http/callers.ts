import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type GatewayKey, type KeyLabels, keyEnd } from "@/server/contracts/gateway/gatewayKeys";
import { saneNameOf } from "./clientNames";

/** The sender of a request. */
export interface Caller {
  /** Name of its key; null if none is needed. */
  readonly key: string | null;
  /** SHA-256 of its key, which no other key of that name has; null if none is needed. It is written nowhere. */
  readonly sha256: string | null;
  /** Class of the work; null if neither the key nor the request names one. */
  readonly objective: string | null;
  /** Whether it is the gateway itself, for a part of a request that the rate already admitted. */
  readonly isPart: boolean;
  /** Labels of its key; undefined if it has none. */
  readonly labels: KeyLabels | undefined;
  /** Its key, if it limits tokens, money or models; null: there is nothing more to check. */
  readonly limited: GatewayKey | null;
  /** The rate of its key; null if it has none. */
  readonly rate: TokenBucket | null;
  /** Seconds until the key may send again; 0 if it may now. */
  takeTurn(): number | Promise<number>;
}

interface Known {
  readonly key: GatewayKey;
  readonly bucket: TokenBucket | null;
}

export interface CallersOptions {
  /** In force while the configuration names no keys. */
  readonly startKeys?: readonly GatewayKey[] | undefined;
  /** Whether the gateway listens on an address that other machines reach. */
  readonly required?: boolean;
  /** Takes a request from the rate of a key that several gateways share; absent: each gateway has the whole rate. */
  readonly takeShared?: ((sha256: string, bucket: TokenBucket) => Promise<number>) | undefined;
}

const keysNeeded =
  "The gateway listens on an address that other machines reach, so it needs API keys: name some in the configuration's settings or in WEIR_GATEWAY_KEYS.";
const objectiveHeader = "x-gateway-inference-objective";
/** In which Anthropic's clients send a key. */
export const apiKeyHeader = "x-api-key";
const bearer = /^Bearer +(\S+)$/i;
const always = (): number => 0;

/** The API keys of the configuration in force, with the rest of each key's rate. */
export class Callers {
  readonly #startKeys: readonly GatewayKey[] | undefined;
  readonly #required: boolean;
  readonly #takeShared: CallersOptions["takeShared"];
  #known: ReadonlyMap<string, Known> | null = null;
  #uses = new Map<string, number>();

  /** With `startKeys` while the configuration has none; where keys are `required`, one must have some. */
  constructor({ startKeys, required = false, takeShared }: CallersOptions = {}) {
    this.#startKeys = startKeys;
    this.#takeShared = takeShared;
    this.#required = required;
    this.update(undefined);
  }

  /** Whether a key is needed. */
  get needed(): boolean {
    return this.#known !== null;
  }

  /** Unix milliseconds of the last use, by the SHA-256 of a key of the configuration. */
  get uses(): ReadonlyMap<string, number> {
    return this.#uses;
  }

  /** The keys in force; none if every client is accepted. */
  get keys(): readonly GatewayKey[] {
    return [...(this.#known?.values() ?? [])].map(({ key }) => key);
  }

  /** The keys in force that have a rate, by their SHA-256, and what is left of it. */
  get rates(): readonly (readonly [sha256: string, bucket: TokenBucket])[] {
    return [...(this.#known ?? [])].flatMap(([sha256, { bucket }]) => (bucket === null ? [] : [[sha256, bucket] as const]));
  }

  /** Takes over what an earlier process left of rates, by the SHA-256 of their keys. */
  restoreRates(rests: ReadonlyMap<string, number>): void {
    for (const [sha256, bucket] of this.rates) bucket.set(rests.get(sha256) ?? bucket.perMinute, performance.now());
  }

  /** The key in force with that SHA-256; undefined if there is none. */
  find(sha256: string): GatewayKey | undefined {
    return this.#known?.get(sha256)?.key;
  }

  /** Takes over uses of an earlier start. */
  restoreUses(uses: Iterable<readonly [string, number]>): void {
    for (const [sha256, usedMs] of uses) if (this.#known?.has(sha256) && !this.#uses.has(sha256)) this.#uses.set(sha256, usedMs);
  }

  /** Puts keys into force; a key with an unchanged rate keeps its use of it. */
  update(keys: readonly GatewayKey[] | undefined): void {
    const before = this.#known;
    const used = keys ?? this.#startKeys;
    this.#known = used === undefined ? null : new Map(used.map((key) => [key.sha256, known(key, before?.get(key.sha256)?.bucket)]));
    this.#uses = new Map([...this.#uses].filter(([sha256]) => this.#known?.has(sha256)));
  }

  /** Why the gateway cannot serve with these keys of a configuration; null if it can. */
  keysRefusal(keys: readonly GatewayKey[] | undefined): string | null {
    return this.#required && (keys ?? this.#startKeys) === undefined ? keysNeeded : null;
  }

  /**
   * The sender of a request; null if a key is needed and the request carries none that is accepted. A part of another request does not count against
   * the rate.
   */
  identify(headers: IncomingHttpHeaders, { isPart = false }: { readonly isPart?: boolean } = {}): Caller | null {
    const objective = saneNameOf(headers[objectiveHeader]) ?? null;
    if (this.#known === null)
      return { key: null, sha256: null, objective, isPart, labels: undefined, limited: null, rate: null, takeTurn: always };
    const found = this.#find(headers);
    if (found === undefined || keyEnd(found.key, Date.now()) !== null) return null;
    const { key, bucket } = found;
    if (!isPart) this.#uses.set(key.sha256, Date.now());
    const takeTurn = bucket === null || isPart ? always : () => this.#take(key.sha256, bucket);
    const { name, sha256, labels, limits, models } = key;
    const limited = limits === undefined && models === undefined ? null : key;
    return { key: name, sha256, objective: key.objective ?? objective, isPart, labels, limited, rate: bucket, takeTurn };
  }

  /** Why `identify` found no sender. */
  refusal(headers: IncomingHttpHeaders): "unknown" | "revoked" | "expired" {
    const found = this.#find(headers);
    return (found === undefined ? null : keyEnd(found.key, Date.now())) ?? "unknown";
  }

  #take(sha256: string, bucket: TokenBucket): number | Promise<number> {
    return this.#takeShared === undefined ? bucket.take(performance.now()) : this.#takeShared(sha256, bucket);
  }

  #find(headers: IncomingHttpHeaders): Known | undefined {
    const secret = bearer.exec(headers.authorization ?? "")?.[1] ?? headers[apiKeyHeader];
    return typeof secret !== "string" ? undefined : this.#known?.get(createHash("sha256").update(secret).digest("hex"));
  }
}

function known(key: GatewayKey, before: TokenBucket | null | undefined): Known {
  const { requestsPerMinute } = key;
  if (requestsPerMinute === undefined) return { key, bucket: null };
  return { key, bucket: before?.perMinute === requestsPerMinute ? before : new TokenBucket(requestsPerMinute, performance.now()) };
}

/** Enforces a rate: at most a minute's worth at once, then one after the other in the course of the minute. */
export class TokenBucket {
  readonly perMinute: number;
  #tokens: number;
  #filledMs: number;
  /** Gateways among which the rate is divided. */
  #gateways = 1;

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute;
    this.#tokens = perMinute;
    this.#filledMs = nowMs;
  }

  /** Requests that may come at once, and the seconds until a minute's worth may. */
  state(nowMs: number): { readonly rest: number; readonly fullInSeconds: number } {
    const perMs = this.#fill(nowMs);
    return { rest: Math.max(0, Math.floor(this.#tokens)), fullInSeconds: Math.max(0, this.perMinute - this.#tokens) / perMs / 1000 };
  }

  /** Takes over what is left of it elsewhere. */
  set(tokens: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens = tokens;
  }

  /** Divides the rate, and what is left of it, among so many gateways: this bucket is one's share. */
  share(gateways: number, nowMs: number): void {
    if (gateways === this.#gateways) return;
    this.#fill(nowMs);
    this.#tokens *= this.#gateways / gateways;
    this.#gateways = gateways;
  }

  /** A token was taken for nothing. */
  giveBack(nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens = Math.min(this.perMinute / this.#gateways, this.#tokens + 1);
  }

  /** Takes a token; returns 0, or the seconds until there is one. */
  take(nowMs: number): number {
    const perMs = this.#fill(nowMs);
    if (this.#tokens < 1) return (1 - this.#tokens) / perMs / 1000;
    this.#tokens -= 1;
    return 0;
  }

  /** Adds what has come since the last call; returns the rate in requests a millisecond. */
  #fill(nowMs: number): number {
    const perMs = this.perMinute / this.#gateways / 60_000;
    // A share of less than one request would never let one through.
    const most = Math.max(1, this.perMinute / this.#gateways);
    this.#tokens = Math.min(most, this.#tokens + (nowMs - this.#filledMs) * perMs);
    this.#filledMs = nowMs;
    return perMs;
  }
}
