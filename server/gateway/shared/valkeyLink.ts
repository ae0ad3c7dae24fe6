import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisClientType } from "@redis/client";
import type { Logger } from "pino";
import { reasonOf } from "@/server/lib/reasonOf";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";

/** No request waits longer for Valkey: its gateway then decides by its own share. A network of a data centre answers in less than one. */
const mostWaitMs = 10;
/** Without any reply for so long the gateway stops asking: a shorter pause is one of the machine or of the network. */
const silentMs = 250;
const beatMs = 1_000;
/** Keys of clients of which a member reads at a beat what others use, in turn. */
export const keysPerBeat = 500;
/** A gateway counts as alive so long after its last beat. */
export const aliveMs = 5_000;
/**
 * After an outage each gateway keeps to its share until the others have posted what they used: for the first time at least, which is longer than
 * the longest wait to connect again, and for the second at most, since a gateway may be gone for good.
 */
const settlingMs = { least: 1_000, most: 10_000 };
/** A gateway that was alive within this time counts for shares: a busy machine may delay its beats. */
const rememberedMs = 60_000;
const mostReconnectMs = 500;
const connectMs = 1_000;
/** A connection without a reply for so long is dead: beats keep a living one busy. */
const deadMs = 5_000;
/** A link that comes and goes logs one pair of lines a minute. */
const logEveryMs = 60_000;

/** A Lua script that runs whole at Valkey: no other command comes between. */
export interface Script {
  readonly lua: string;
}

/** Says that a gateway is alive, by the clock of Valkey; returns how many are. Gateways of more than a month ago are forgotten. */
const beatScript: Script = {
  lua: `
local me, aliveMs = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], nowMs, me)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', nowMs - 32 * 86400000)
return { tostring(redis.call('ZCOUNT', KEYS[1], nowMs - aliveMs, '+inf')) }
`,
};

/** State that a gateway shares with others. */
export interface Member {
  readonly scripts: readonly Script[];
  /** Posts what an earlier start of this gateway left, before the first `post`. */
  prepare(): Promise<unknown>;
  /** Sends all of this gateway's state at once; later changes follow it on the same connection. */
  post(): Promise<unknown>;
  /** Reads what the others have posted. */
  refresh(): Promise<unknown>;
  /** This gateway ends: what stays valid is handed to the others. */
  leave(): Promise<unknown>;
  /** What went beyond limits during an outage, as a sentence without its full stop; null: nothing. */
  overshoot(): string | null;
}

interface LinkOptions {
  readonly url: string;
  /** Gateways share by this name. */
  readonly scope: string;
  readonly log: Logger;
}

/**
 * The connection of a gateway to the Valkey, or Redis, over which several gateways share state.
 *
 * - `up`: Valkey decides.
 * - `settling`: after an outage; this gateway posts its changes and decides by its share, until the others have posted theirs.
 * - `away`: it decides by its share and posts nothing; `post` sends all of it later.
 */
export class ValkeyLink {
  /** Of this start of the gateway. */
  readonly id = randomUUID();
  readonly #options: LinkOptions;
  readonly #where: string;
  readonly #decisions = new Tally(["by"] as const);
  readonly #members: Member[] = [];
  readonly #hashes = new Map<Script, string>();
  #client: RedisClientType | null = null;
  #mode: "up" | "settling" | "away" = "away";
  #epoch = 0;
  /** How many gateways were alive at the latest beats. */
  #alive: readonly { readonly count: number; readonly atMs: number }[] = [];
  #reason: string | null = null;
  #sinceMs = Date.now();
  #answeredMs = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;
  /** Whether the present outage was logged. */
  #isWarned = false;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #isJoining = false;
  #isClosed = false;
  #wasUp = false;

  /** @throws if the URL is not one of Valkey. */
  constructor(options: LinkOptions) {
    this.#options = options;
    this.#where = hostOf(options.url);
  }

  get isUp(): boolean {
    return this.#mode === "up";
  }

  /** Whether changes of this gateway's state are to be sent. */
  get isPosting(): boolean {
    return this.#mode !== "away";
  }

  /** Increases whenever all state is posted anew: a command with an earlier number has no effect. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Gateways that were alive when Valkey was last seen, this one among them. */
  get gateways(): number {
    return this.#alive.at(-1)?.count ?? 1;
  }

  /** Gateways among which limits are divided while Valkey cannot be reached: the most that were alive in the last minute before. */
  get sharing(): number {
    return Math.max(1, ...this.#alive.map(({ count }) => count));
  }

  /** How the state is shared now. */
  status(): { readonly reachable: boolean; readonly gateways: number; readonly sinceMs: number; readonly reason?: string } {
    const reason = this.isUp ? null : this.#reason;
    return { reachable: this.isUp, gateways: this.gateways, sinceMs: this.#sinceMs, ...(reason !== null && { reason }) };
  }

  add(member: Member): void {
    this.#members.push(member);
  }

  /** A key of Valkey. All of one scope are in one slot of a cluster. */
  key(...parts: readonly string[]): string {
    return [`{weir:${this.#options.scope}}`, ...parts].join(":");
  }

  /** Connects in the background; resolves after the first attempt, or after the time of one. */
  async begin(): Promise<void> {
    const { createClient } = await import("@redis/client");
    const client = createClient({
      url: this.#options.url,
      RESP: 2,
      name: `weir-gateway-${this.id.slice(0, 8)}`,
      disableOfflineQueue: true,
      socket: {
        connectTimeout: connectMs,
        socketTimeout: deadMs,
        reconnectStrategy: (attempts) => Math.min(mostReconnectMs, 50 * 2 ** Math.min(attempts, 10)),
      },
    }) as unknown as RedisClientType;
    this.#client = client;
    client.on("error", (error) => this.#away(reasonOf(error)));
    client.on("end", () => this.#away("the connection is closed"));
    const first = new Promise<void>((resolve) => {
      client.once("error", () => resolve());
      client.on("ready", () => void this.#join().then(resolve));
    });
    client.connect().catch((error) => this.#away(reasonOf(error)));
    this.#timer = setInterval(() => void this.#beat(), beatMs).unref();
    await Promise.race([first, sleep(connectMs, undefined, { ref: false })]);
  }

  /** Runs a script. Rejects if Valkey cannot be reached or refuses it; then the link is away. */
  async run(script: Script, { keys, args }: { readonly keys: readonly string[]; readonly args: readonly (string | number)[] }) {
    const { id } = this;
    try {
      const client = this.#client;
      const hash = this.#hashes.get(script);
      if (client === null || hash === undefined) throw new Error("Valkey is not connected");
      const reply = await client.sendCommand(["EVALSHA", hash, String(keys.length), ...keys, id, ...args.map(String)]);
      this.#answeredMs = performance.now();
      return textsOf(reply);
    } catch (error) {
      this.#away(reasonOf(error));
      throw error;
    }
  }

  /** What a promise gives within `mostWaitMs`; null if it rejects or takes longer. */
  async within<T>(reply: Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      const wait = (then: () => void): void => {
        // A reply that arrived while this process was busy is read between a timer and an immediate.
        timer = setTimeout(() => setImmediate(then), mostWaitMs);
      };
      const askedMs = performance.now();
      wait(() => {
        // Where this process itself was too busy to look, Valkey gets its time once more.
        if (performance.now() - askedMs > 2 * mostWaitMs) wait(() => resolve("late"));
        else resolve("late");
      });
    });
    const first = await Promise.race([reply.catch(() => null), late]);
    clearTimeout(timer);
    if (first !== "late") {
      this.#decisions.inc({ by: first === null ? "share" : "valkey" });
      return first;
    }
    this.#decisions.inc({ by: "share" });
    if (performance.now() - this.#answeredMs > silentMs) this.#away("it does not answer");
    return null;
  }

  /** Counts a decision that did not ask Valkey. */
  decidedAlone(): void {
    this.#decisions.inc({ by: "share" });
  }

  register(registry: MetricRegistry): void {
    const up = "1 while this gateway decides with the others over Valkey; 0 while it keeps to its share of limits.";
    registry.gauge("weir_gateway_sharing_up", up, [], (gauge) => gauge.set({}, this.isUp ? 1 : 0));
    const alive = "Gateways that share state, this one among them, when Valkey was last seen.";
    registry.gauge("weir_gateway_sharing_gateways", alive, [], (gauge) => gauge.set({}, this.gateways));
    const by = "Decisions on shared limits, by whom: valkey, or share while it could not be reached in time.";
    registry.counter("weir_gateway_sharing_decisions_total", by, ["by"], this.#decisions);
  }

  /** Hands over what stays valid and disconnects. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const client = this.#client;
    if (client === null) return;
    if (this.isPosting) {
      const left = Promise.all(this.#members.map((member) => member.leave())).then(() => client.zRem(this.key("gateways"), this.id));
      await Promise.race([left.catch(() => undefined), sleep(connectMs, undefined, { ref: false })]);
    }
    this.#isClosed = true;
    client.destroy();
  }

  async #beat(): Promise<void> {
    if (this.#isBeating || this.#client?.isReady !== true) return;
    this.#isBeating = true;
    try {
      await this.#sayAlive();
      if (this.#mode === "away") await this.#join();
      else await Promise.all(this.#members.map((member) => member.refresh()));
    } catch {
      // `run` has said why.
    } finally {
      this.#isBeating = false;
    }
  }

  async #sayAlive(): Promise<void> {
    if (!this.#hashes.has(beatScript)) await this.#load();
    const [count] = await this.run(beatScript, { keys: [this.key("gateways")], args: [aliveMs] });
    const nowMs = performance.now();
    // After an outage, however long, the others have yet to come back.
    const kept = this.isUp ? this.#alive.filter(({ atMs }) => nowMs - atMs < rememberedMs) : [{ count: this.sharing, atMs: nowMs }];
    this.#alive = [...kept, { count: Number(count), atMs: nowMs }];
  }

  /** After a restart Valkey knows no scripts. */
  async #load(): Promise<void> {
    for (const script of [beatScript, ...this.#members.flatMap(({ scripts }) => scripts)])
      this.#hashes.set(script, String(await this.#client?.sendCommand(["SCRIPT", "LOAD", script.lua])));
  }

  async #join(): Promise<void> {
    if (this.#isJoining || this.#isClosed) return;
    this.#isJoining = true;
    try {
      await this.#load();
      await this.#sayAlive();
      await Promise.all(this.#members.map((member) => member.prepare()));
      this.#epoch += 1;
      const { epoch } = this;
      // Changes from here on are sent after the state that they change.
      this.#mode = "settling";
      await Promise.all(this.#members.map((member) => member.post()));
      const postedMs = performance.now();
      do {
        if (this.#wasUp) await sleep(settlingMs.least, undefined, { ref: false });
        await this.#sayAlive();
      } while (this.#wasUp && this.gateways < this.sharing && performance.now() - postedMs < settlingMs.most);
      await Promise.all(this.#members.map((member) => member.refresh()));
      if (this.isPosting && epoch === this.#epoch) this.#up();
    } catch (error) {
      this.#away(reasonOf(error));
    } finally {
      this.#isJoining = false;
    }
  }

  #up(): void {
    const seconds = (Date.now() - this.#sinceMs) / 1000;
    this.#mode = "up";
    this.#sinceMs = Date.now();
    const overshoot = this.#members.flatMap((member) => member.overshoot() ?? []);
    const { gateways } = this;
    if (!this.#wasUp) {
      // What a start waited for does not hide the first outage.
      this.#warnedMs = Number.NEGATIVE_INFINITY;
      this.#options.log.info({ gateways }, `state is shared over Valkey at ${this.#where}`);
    } else if (this.#isWarned) {
      const beyond = overshoot.length === 0 ? "no limit was exceeded meanwhile" : overshoot.join("; ");
      this.#options.log.info({ gateways, seconds }, `Valkey at ${this.#where} is back: ${beyond}`);
    }
    this.#wasUp = true;
    this.#isWarned = false;
  }

  #away(reason: string): void {
    if (this.#isClosed) return;
    this.#reason = reason;
    if (this.#mode !== "away") {
      this.#mode = "away";
      this.#sinceMs = Date.now();
    }
    if (performance.now() - this.#warnedMs < logEveryMs) return;
    this.#warnedMs = performance.now();
    this.#isWarned = true;
    const gateways = this.sharing;
    const share = gateways === 1 ? "all" : `1/${gateways}`;
    this.#options.log.warn(
      { gateways, reason },
      `Valkey at ${this.#where} cannot be reached: until it is back this gateway lets each key use ${share} of what is left of its limits`,
    );
  }
}

/** Host and port of a URL, without its password. @throws if it is not one of Valkey. */
function hostOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "")
    throw new Error("WEIR_VALKEY_URL must be the URL of a Valkey or Redis, such as redis://127.0.0.1:6379/0, or rediss:// for TLS.");
  return url.host;
}

function textsOf(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [String(reply)];
}
