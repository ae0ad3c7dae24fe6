import type { TokenBucket } from "../http/callers";
import { rateScript } from "./rateScript";
import { keysPerBeat, type Member, type Script, type ValkeyLink } from "./valkeyLink";

interface Rate {
  /** What Valkey said is left, or while it cannot be reached this gateway's share of it. */
  readonly bucket: TokenBucket;
  /** What this gateway let through lately, and what of it without Valkey. */
  readonly all: Recent;
  readonly alone: Recent;
  /** The bucket at Valkey that it saw last. */
  seen: string;
}

/**
 * The rates of keys over several gateways. While Valkey cannot be reached in time, a gateway lets through its share: what was left then, and the
 * rate, divided by the number of gateways.
 */
export class SharedRates implements Member {
  readonly scripts: readonly Script[] = [rateScript];
  readonly #link: ValkeyLink;
  readonly #rated: () => Iterable<readonly [sha256: string, bucket: TokenBucket]>;
  readonly #rates = new Map<string, Rate>();
  #next = 0;

  /** @param rated the keys with a rate, and their buckets in this gateway. */
  constructor(link: ValkeyLink, rated: () => Iterable<readonly [sha256: string, bucket: TokenBucket]>) {
    this.#link = link;
    this.#rated = rated;
    link.add(this);
  }

  /** Takes a request from a key's rate; returns 0, or the seconds until there is one. @param bucket of that key in this gateway. */
  readonly take = async (sha256: string, bucket: TokenBucket): Promise<number> => {
    const rate = this.#rateOf(sha256, bucket);
    const link = this.#link;
    if (!link.isUp) {
      link.decidedAlone();
      return this.#takeShare(rate);
    }
    const asked = this.#ask(sha256, rate, { isWanted: true });
    const waitSeconds = await link.within(asked);
    if (waitSeconds !== null) {
      if (waitSeconds === 0) rate.all.add(1);
      return waitSeconds;
    }
    const waited = this.#takeShare(rate);
    asked.then(
      (late) => {
        // Valkey has taken it, or has given it back.
        if (late === 0) rate.alone.add(-1);
      },
      () => undefined,
    );
    return waited;
  };

  async prepare(): Promise<void> {}

  async post(): Promise<void> {
    await Promise.all([...this.#rates].map(([sha256, rate]) => this.#ask(sha256, rate, { isWanted: false })));
  }

  async refresh(): Promise<void> {
    const all = [...this.#rated()];
    const first = this.#next % Math.max(1, all.length);
    const turn = [...all.slice(first), ...all.slice(0, first)].slice(0, keysPerBeat);
    this.#next = first + turn.length;
    await Promise.all(turn.map(([sha256, bucket]) => this.#ask(sha256, this.#rateOf(sha256, bucket), { isWanted: false })));
  }

  async leave(): Promise<void> {
    await this.post();
  }

  overshoot(): null {
    return null;
  }

  #takeShare(rate: Rate): number {
    const nowMs = performance.now();
    rate.bucket.share(this.#link.sharing, nowMs);
    const waitSeconds = rate.bucket.take(nowMs);
    if (waitSeconds === 0) {
      rate.all.add(1);
      rate.alone.add(1);
    }
    return waitSeconds;
  }

  /** What Valkey answers: seconds to wait. */
  async #ask(sha256: string, rate: Rate, { isWanted }: { readonly isWanted: boolean }): Promise<number> {
    const link = this.#link;
    const { bucket, alone, all } = rate;
    const posted = alone.count;
    alone.add(-posted);
    const reply = link.run(rateScript, {
      keys: [link.key("rate", sha256)],
      args: [bucket.perMinute, isWanted ? 1 : 0, posted, all.count, rate.seen],
    });
    reply.catch(() => alone.add(posted));
    const [waitMs, left, name = ""] = await reply;
    rate.seen = name;
    bucket.share(1, performance.now());
    bucket.set(Number(left), performance.now());
    return Number(waitMs) / 1000;
  }

  #rateOf(sha256: string, bucket: TokenBucket): Rate {
    const known = this.#rates.get(sha256);
    if (known?.bucket === bucket) return known;
    const { perMinute } = bucket;
    const rate = { bucket, all: new Recent(perMinute), alone: new Recent(perMinute), seen: known?.seen ?? "" };
    this.#rates.set(sha256, rate);
    return rate;
  }
}

/** A count that goes back to nothing at a rate, as a bucket of that rate fills. */
class Recent {
  readonly #perMs: number;
  #count = 0;
  #atMs = 0;

  constructor(perMinute: number) {
    this.#perMs = perMinute / 60_000;
  }

  get count(): number {
    const nowMs = performance.now();
    const gone = (nowMs - this.#atMs) * this.#perMs;
    this.#count = this.#count > 0 ? Math.max(0, this.#count - gone) : this.#count;
    this.#atMs = nowMs;
    return this.#count;
  }

  add(requests: number): void {
    this.#count = this.count + requests;
  }
}
