import type { GateCall } from "@/server/contracts/gateway/gatewayAdmin";
import type { EndSignal } from "@/server/lib/requestEnd";
import { spareReplica } from "@/solver/policies/places/spareReplica";
import { callEngine } from "../engines/engineCall";
import type { Replica } from "../engines/replica";
import { stageOutcome } from "../engines/stageOutcome";
import { type BodyMemoryBudget, BodyReservation } from "../http/bodyMemoryBudget";
import { engineBody } from "../http/engineBody";
import { type ModelRequest, withoutTrace } from "../http/modelRequest";
import { noUsage, type Usage, usageOf } from "../http/usage";

/** The engines that further answers may use. */
export interface GateEngines {
  readonly pool: { readonly replicas: readonly Replica[] };
  /** Requests that wait for an engine, by model. */
  readonly queued: ReadonlyMap<string, number>;
  /** Called when an engine got room. */
  readonly onRoom: (nowMs: number) => void;
}

/** A further answer that a gate compares with. */
export interface WantedAnswer {
  readonly model: string;
  /** Null: the client's own. */
  readonly temperature: number | null;
}

export interface OtherAnswersOptions {
  readonly asked: ModelRequest;
  readonly wanted: readonly WantedAnswer[];
  readonly engines: GateEngines;
  /** The request's own: it ends the calls too. */
  readonly signal: EndSignal;
  /** Largest answer. */
  readonly answerBytes: number;
  /** The memory that the answers use until they are compared. */
  readonly bodies: BodyMemoryBudget;
}

/** A further answer for the record, with wall milliseconds instead of engine seconds. */
export type TimedCall = Omit<GateCall, "seconds"> & { readonly ms: number | null };

/** Longer further answers fail: up to twelve are held at once for a request, and those that a gate compares are short. */
const MOST_BYTES = 1024 * 1024;

/** The client's parameters that would make a sample a copy of the answer, so that every answer would seem sure. */
const asSampled = { top_p: undefined, top_k: undefined, min_p: undefined, use_beam_search: undefined };

/** The client's parameters for parts of an answer that no gate compares. */
const comparedAlone = { logprobs: undefined, top_logprobs: undefined, prompt_logprobs: undefined, n: undefined, best_of: undefined };

interface Call {
  readonly wanted: WantedAnswer;
  outcome: GateCall["outcome"] | "open";
  usage: Usage;
  text: string;
  startedMs: number;
  /** Null before its end. */
  ms: number | null;
  /** Resolves when it is settled; never rejects. */
  done: Promise<void>;
}

/**
 * Further answers to a request, asked for beside its own. They use spare engines only: one that stays at least half empty and for whose
 * model nothing waits, so that no client's request waits for them. They are not retried, and their failures do not count against an engine.
 * They share the memory of request bodies: one that finds none free fails.
 */
export class OtherAnswers {
  readonly #options: OtherAnswersOptions;
  readonly #calls: readonly Call[];
  readonly #end = new AbortController();
  #isRead = false;
  readonly #place: BodyReservation;

  constructor(options: OtherAnswersOptions) {
    this.#options = options;
    this.#place = new BodyReservation(options.bodies);
    this.#calls = options.wanted.map((wanted) => ({
      wanted,
      outcome: "no-free-engine",
      usage: noUsage,
      text: "",
      startedMs: 0,
      ms: null,
      done: Promise.resolve(),
    }));
    options.signal.addEventListener("abort", this.cancel, { once: true });
  }

  /** Asks for those answers that were not asked for yet and for which an engine is free. */
  start(): void {
    if (this.#end.signal.aborted) return;
    for (const [index, call] of this.#calls.entries()) {
      if (call.outcome !== "no-free-engine") continue;
      const replica = spareReplica(call.wanted.model, this.#options.engines);
      if (replica === undefined) continue;
      call.outcome = "open";
      call.startedMs = performance.now();
      call.done = this.#ask(call, replica, index);
    }
  }

  /**
   * The answers, as soon as all are there or the rest can change nothing, and in any case after `mostMs`; the rest is cancelled. They stay
   * in memory until `cancel` is called.
   *
   * @param mostMs wall milliseconds from now.
   * @param isDecided whether the outcome is known from these answers, whatever so many open ones say.
   * @returns null if there are none.
   */
  async read(mostMs: number, isDecided: (answers: readonly string[], open: number) => boolean): Promise<readonly string[] | null> {
    this.#isRead = true;
    // Engines that were full may have room now: the one of the answer itself has.
    this.start();
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        isLate = true;
        resolve();
      }, mostMs);
    });
    try {
      for (let open = this.#open; open.length > 0 && !isLate && !isDecided(this.#answers, open.length); open = this.#open) {
        await Promise.race([late, ...open.map(({ done }) => done)]);
      }
    } finally {
      clearTimeout(timer);
      this.end();
    }
    const answers = this.#answers;
    return answers.length === 0 ? null : answers;
  }

  /** Ends the open calls; those that are there can still be compared. */
  end(): void {
    this.#end.abort();
  }

  /** Ends the open calls and releases the memory of the others. */
  readonly cancel = (): void => {
    this.#options.signal.removeEventListener("abort", this.cancel);
    this.end();
    this.#place.leave();
    for (const call of this.#calls) call.text = "";
  };

  /** Whether a score is one of all further answers, or of none because the gate read none. */
  get isWhole(): boolean {
    return !this.#isRead || this.#calls.every(({ outcome }) => outcome === "answered");
  }

  /** What became of each, for the record. */
  get calls(): readonly TimedCall[] {
    return this.#calls.map(({ wanted: { model }, outcome, usage, startedMs, ms }) => {
      return outcome === "open"
        ? { model, outcome: "cancelled", ...usage, ms: performance.now() - startedMs }
        : { model, outcome, ...usage, ms };
    });
  }

  /** Those for the record of a stage whose own engine failed; none where no engine was asked. */
  get unused(): readonly TimedCall[] {
    return this.#calls.some(({ outcome }) => outcome !== "no-free-engine") ? this.calls : [];
  }

  get #open(): readonly Call[] {
    return this.#calls.filter(({ outcome }) => outcome === "open");
  }

  get #answers(): readonly string[] {
    return this.#calls.filter(({ outcome }) => outcome === "answered").map(({ text }) => text);
  }

  /** Bypasses the policies, which see the call only in the engine's count of requests. */
  async #ask(call: Call, replica: Replica, index: number): Promise<void> {
    const { asked, engines, answerBytes } = this.#options;
    const { endpoint } = asked;
    replica.begin();
    const reply = await callEngine({
      pool: replica.pool,
      path: replica.basePath + endpoint.enginePath,
      headers: { ...withoutTrace(asked.upstreamHeaders), "x-request-id": `${asked.requestId}-gate-${index + 1}` },
      body: engineBody({ ...asked, body: this.#body(call.wanted, index) }, replica.servedName, { stream: false, priority: null }),
      signal: this.#end.signal,
      mostBytes: Math.min(answerBytes, MOST_BYTES),
      grow: (bytes) => this.#place.grow(bytes),
      watch: replica.stallDetector,
    });
    replica.end();
    call.ms = performance.now() - call.startedMs;
    const outcome = stageOutcome({ kind: "not-begun", reply }, endpoint);
    const text = outcome.kind === "answered" ? (endpoint.text?.answer(outcome.completion) ?? null) : null;
    call.outcome = outcome.kind === "aborted" ? "cancelled" : text === null ? "failed" : "answered";
    call.text = text ?? "";
    if (outcome.kind === "answered") call.usage = usageOf(outcome.completion);
    engines.onRoom(performance.now());
  }

  /** A sample must not repeat the answer because it has the client's seed, or draws among few tokens. */
  #body({ temperature }: WantedAnswer, index: number): ModelRequest["body"] {
    const { body } = this.#options.asked;
    const { seed } = body;
    const plain = { ...body, ...comparedAlone };
    if (temperature === null) return plain;
    return { ...plain, ...asSampled, temperature, ...(typeof seed === "number" && { seed: seed + index + 1 }) };
  }
}
