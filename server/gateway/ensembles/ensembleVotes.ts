import { setMaxListeners } from "node:events";
import { type Ensemble, MOST_EXPERTS } from "@/solver/ensemble/gate/ensembleDocument";
import { decideGate, type GateDecision, settledGate, type Vote } from "@/solver/ensemble/gate/gate";
import { voteReader } from "@/solver/ensemble/gate/voteReader";
import type { LoopbackAnswer, LoopbackFailure } from "../http/loopbackClient";

/** Outcome of an expert's call. */
export type Asked = { readonly ok: true; readonly answer: LoopbackAnswer } | { readonly ok: false; readonly error: LoopbackFailure };

/** State of an expert when the gate decided. */
export type ExpertState =
  | {
      readonly model: string;
      readonly state: "voted" | "no-vote";
      readonly vote: string | null;
      readonly answer: LoopbackAnswer;
      readonly ms: number;
    }
  | { readonly model: string; readonly state: "failed"; readonly error: LoopbackFailure; readonly ms: number }
  /** `late`: no answer at the deadline; `not-needed`: aborted, since no answer of it could have kept the gate from skipping. */
  | { readonly model: string; readonly state: "late" | "not-needed" };

export interface VotingOptions {
  readonly ensemble: Ensemble;
  /** Experts that get the question, in the ensemble's order. */
  readonly experts: readonly string[];
  /** Calls an expert; never rejects. */
  readonly ask: (expert: string, signal: AbortSignal) => Promise<Asked>;
  /** The current threshold. */
  readonly tau: () => number;
  /** Wall milliseconds until the gate decides on the votes it has. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** What the gate decided, and on which votes. */
export interface Voted {
  readonly decision: GateDecision;
  readonly tau: number;
  readonly experts: readonly ExpertState[];
  readonly atDeadline: boolean;
  readonly belowQuorum: boolean;
}

/**
 * One question to its experts. The gate decides as soon as there is a quorum and no missing vote could keep it from skipping the
 * aggregator. The aggregator is called only once every expert has answered or failed, since it reads their answers. At the deadline the
 * gate decides on the votes it has. Below the quorum it never skips.
 */
export class Voting {
  /** Never rejects; once the signal has fired, it holds what had arrived by then. */
  readonly decided: Promise<Voted>;
  readonly #options: VotingOptions;
  readonly #read: (text: string) => string | null;
  readonly #states = new Map<string, ExpertState>();
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #resolve: (voted: Voted) => void = () => undefined;

  constructor(options: VotingOptions) {
    this.#options = options;
    this.#read = voteReader(options.ensemble.extraction);
    this.decided = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const ended = AbortSignal.any([options.signal, this.#ending.signal]);
    setMaxListeners(MOST_EXPERTS + 1, ended);
    this.#timer = setTimeout(() => this.#decide(true), options.deadlineMs);
    for (const expert of options.experts) void this.#ask(expert, ended);
  }

  /** Makes the gate decide again, for example when its threshold has changed. */
  look(): void {
    const { ensemble, experts } = this.#options;
    if (this.#ending.signal.aborted) return;
    const allIn = this.#states.size === experts.length;
    const settled = this.#answered >= ensemble.quorum && settledGate(this.#votes, this.#gate)?.kind === "skip";
    if (allIn || settled) this.#decide(false);
  }

  async #ask(model: string, signal: AbortSignal): Promise<void> {
    const startedMs = performance.now();
    const asked = await this.#options.ask(model, signal);
    if (this.#ending.signal.aborted) return;
    const ms = performance.now() - startedMs;
    if (asked.ok) {
      const vote = this.#read(asked.answer.output);
      this.#states.set(model, { model, state: vote === null ? "no-vote" : "voted", vote, answer: asked.answer, ms });
    } else this.#states.set(model, { model, state: "failed", error: asked.error, ms });
    this.look();
  }

  #decide(atDeadline: boolean): void {
    clearTimeout(this.#timer);
    this.#ending.abort();
    const { experts, ensemble } = this.#options;
    const gate = this.#gate;
    const decision = decideGate(this.#votes, gate);
    const belowQuorum = this.#answered < ensemble.quorum;
    this.#resolve({
      decision: belowQuorum ? { ...decision, kind: "aggregate" } : decision,
      ...{ tau: gate.tau, atDeadline, belowQuorum },
      experts: experts.map((model) => this.#states.get(model) ?? { model, state: atDeadline ? "late" : "not-needed" }),
    });
  }

  get #answered(): number {
    return [...this.#states.values()].filter(({ state }) => state !== "failed").length;
  }

  get #gate() {
    const { ensemble, experts, tau } = this.#options;
    return { asked: experts, confidence: ensemble.confidence, tau: tau() };
  }

  /** Votes of experts that have ended, in the ensemble's order; a failed expert has none. */
  get #votes(): readonly Vote[] {
    return this.#options.experts.flatMap((expert) => {
      const state = this.#states.get(expert);
      if (state === undefined || !("ms" in state)) return [];
      if (state.state === "failed") return [{ expert, vote: null, outputTokens: 0 }];
      return [{ expert, vote: state.vote, outputTokens: state.answer.usage.outputTokens ?? 0 }];
    });
  }
}
