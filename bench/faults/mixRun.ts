import type { Decision, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import { mixSeed } from "@/solver/numeric/random";
import { Clients, type Outcome, type Reply } from "./clients";
import { Ledger } from "./ledger";
import { mixModels } from "./mixPlans";
import { cycleSeconds, Parties } from "./parties";

const perSecond = 200;
const mostTokens = 40;
/** Clients that leave do so within this time, unless they are answered before. */
const patienceMs = 500;
/** Longer than the gateway takes for any request. */
const settleSeconds = 15;

const rssSeconds = 15;

/** The gateway's own figures at one moment. */
interface GatewaySample {
  readonly counted: Readonly<Record<Outcome, number>>;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
}

/** A minute of the run, or the part of it so far: sums since the start of the run, and the gateway's resource use. */
export interface MinuteReport {
  readonly sent: number;
  readonly seen: Readonly<Record<Outcome, number>>;
  /** The gateway's memory, averaged over the last fifteen seconds. */
  readonly rssBytes: number;
  /** Memory of its JavaScript objects, garbage included, the minimum over those seconds. */
  readonly heapBytes: number;
  /** Share of one core, averaged over the minute. */
  readonly cpuShare: number;
}

/** One run of the mix against parties that are up. */
class MixRun {
  readonly ledger = new Ledger();
  readonly minutes: MinuteReport[] = [];
  readonly throughMs: number[] = [];
  readonly straightMs: number[] = [];
  missed = 0;
  lastDecision = 0;
  readonly #parties: Parties;
  readonly #cycles: number;
  readonly #onMinute: (minute: MinuteReport) => void;
  readonly #gateway: Clients;
  readonly #mock: Clients;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(parties: Parties, cycles: number, onMinute: (minute: MinuteReport) => void) {
    this.#parties = parties;
    this.#cycles = cycles;
    this.#onMinute = onMinute;
    this.#gateway = new Clients(parties.gatewayUrl);
    this.#mock = new Clients(parties.mockUrl);
  }

  /** Sends for the given time, waits for every end, and returns the gateway's counts and remaining requests. */
  async run() {
    const ended = { sending: false, all: false };
    const breaking = this.#break();
    const reading = this.#read(() => ended.all);
    const watching = this.#watch(() => ended.sending);
    await this.#send();
    ended.sending = true;
    await Promise.all([breaking, watching]);
    await Promise.all(this.#pending);
    const leftBehind = await this.#settled();
    ended.all = true;
    await reading;
    await this.#readRecords();
    const { counted } = await this.#sample();
    this.#gateway.close();
    this.#mock.close();
    return { counted, leftBehind };
  }

  async #send(): Promise<void> {
    const startedMs = performance.now();
    const total = perSecond * cycleSeconds * this.#cycles;
    for (let index = 0; index < total; ) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      for (; index < total && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) {
        this.#follow(this.#chat(index));
        if (index % 20 === 0) this.#probe();
        if (index % perSecond === 50) this.#follow(this.#gateway.tooLarge(index % (2 * perSecond) === 50));
        if (index % 100 === 75) this.#follow(this.#gateway.slow("body"));
        if (index % 100 === 25) this.#follow(this.#gateway.slow("head"));
      }
    }
  }

  /** Half are streamed, and half leave, independent of their other properties. */
  #chat(index: number): Promise<Reply> {
    const draw = mixSeed("chat", index);
    return this.#gateway.chat({
      model: draw % 3 === 0 ? mixModels.large : "cascade/default",
      prompt: Parties.prompt(index),
      stream: index % 2 === 0,
      streaming: index % 4 === 0 ? "last" : "buffer",
      mostTokens,
      leaveAfterMs: index % 8 < 4 ? null : mixSeed("patience", index) % patienceMs,
    });
  }

  /** A request to a healthy engine, and the same without the gateway. */
  #probe(): void {
    const chat = { model: mixModels.steady, prompt: "", stream: false, streaming: "buffer", mostTokens, leaveAfterMs: null } as const;
    const startedMs = performance.now();
    const through = this.#gateway.chat(chat).then((reply) => {
      this.throughMs.push(performance.now() - startedMs);
      return reply;
    });
    this.#follow(through);
    const straight = this.#mock.chat(chat).then(() => this.straightMs.push(performance.now() - startedMs));
    this.#keep(straight);
  }

  #follow(request: Promise<Reply>): void {
    this.#keep(this.ledger.follow(request));
  }

  #keep(work: Promise<unknown>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  async #break(): Promise<void> {
    for (let cycle = 0; cycle < this.#cycles; cycle += 1) await this.#parties.breakAll(cycle);
  }

  async #read(done: () => boolean): Promise<void> {
    while (!done()) {
      await this.#readRecords();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async #readRecords(): Promise<void> {
    for (let latest = this.lastDecision + 1; this.lastDecision < latest; ) {
      const page = await this.#admin<{ decisions: Decision[]; latest: number; missed: number }>(`/decisions?after=${this.lastDecision}`);
      for (const decision of page.decisions) this.ledger.record(decision);
      latest = page.latest;
      this.missed += page.missed;
      this.lastDecision = page.decisions.at(-1)?.sequence ?? latest;
    }
  }

  /** Samples memory and processor once a second, and closes a minute when it ends. */
  async #watch(done: () => boolean): Promise<void> {
    let samples: GatewaySample[] = [];
    let [sinceMs, since] = [performance.now(), await this.#sample()];
    const close = (now: GatewaySample): void => {
      const last = samples.slice(-rssSeconds);
      const minute = {
        sent: this.ledger.sent,
        seen: { ...this.ledger.seen },
        rssBytes: last.reduce((sum, one) => sum + one.rssBytes, 0) / last.length,
        heapBytes: Math.min(...last.map((one) => one.heapBytes)),
        cpuShare: ((now.cpuSeconds - since.cpuSeconds) * 1000) / (performance.now() - sinceMs),
      };
      this.minutes.push(minute);
      this.#onMinute(minute);
      samples = [];
      [sinceMs, since] = [performance.now(), now];
    };
    while (!done()) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const now = await this.#sample();
      samples.push(now);
      if (performance.now() - sinceMs >= 60_000 || done()) close(now);
    }
  }

  /** The queued and in-flight requests once all are answered, or after the time limit for that. */
  async #settled(): Promise<{ readonly queued: number; readonly inFlight: number }> {
    const untilMs = performance.now() + settleSeconds * 1000;
    for (;;) {
      const { queued, replicas } = await this.#admin<GatewayStatus>("/status");
      const left = {
        queued: Object.values(queued).reduce((sum, count) => sum + count, 0),
        inFlight: replicas.reduce((sum, replica) => sum + replica.inFlight, 0),
      };
      if ((left.queued === 0 && left.inFlight === 0) || performance.now() > untilMs) return left;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #sample(): Promise<GatewaySample> {
    const text = await (await fetch(`${this.#parties.adminUrl}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    const counted = { answered: 0, shed: 0, failed: 0, left: 0, lost: 0 };
    for (const [, labels = "", count] of text.matchAll(/^weir_gateway_requests_total\{([^}]*)\} (\d+)$/gm)) {
      const status = /status="(\d+)"/.exec(labels)?.[1];
      counted[status === "200" ? "answered" : status === "429" ? "shed" : status === "499" ? "left" : "failed"] += Number(count);
    }
    return {
      counted,
      rssBytes: value("process_resident_memory_bytes"),
      heapBytes: value("nodejs_heap_size_used_bytes"),
      cpuSeconds: value("process_cpu_seconds_total"),
    };
  }

  async #admin<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.#parties.adminUrl}${path}`)).json()) as T;
  }
}

interface FaultMixOptions {
  /** Number of fault cycles: even, so that the judge is both killed and stopped. */
  readonly cycles: number;
  readonly onMinute?: (minute: MinuteReport) => void;
}

/**
 * Sends 200 requests a second to a gateway, half of them streamed, half from clients that leave when they wait too long, including bodies
 * of 10 MB and slow senders, while engines are killed, hang and answer nonsense, the judge is killed and hangs, the studio's substitute is
 * killed, and the plan changes every second. Everything is a separate process. Resolves when every request has ended.
 */
export async function runFaultMix({ cycles, onMinute = () => undefined }: FaultMixOptions) {
  const parties = await Parties.start();
  try {
    const run = new MixRun(parties, cycles, onMinute);
    const { counted, leftBehind } = await run.run();
    const { ledger, minutes, throughMs, straightMs, missed, lastDecision } = run;
    const { complaints, planSwitches } = parties;
    return { ledger, minutes, throughMs, straightMs, missed, lastDecision, counted, leftBehind, complaints, planSwitches };
  } finally {
    await parties.end();
  }
}
