import { spareReplica } from "@/solver/policies/places/spareReplica";
import type { StageGate } from "@/solver/stageGates/stageGate";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { ClusterEngines } from "./clusterEngines";

/** One call for a further answer: the slot of its request in the engines, and the model that answers. */
interface Call {
  readonly slot: number;
  readonly model: string;
  readonly outputTokens: number;
  state: "unsent" | "open" | "answered";
}

export interface FurtherAnswersInput {
  readonly gates: ReadonlyMap<string, StageGate>;
  readonly outcomes: OutcomeTable;
  readonly requests: number;
  /** Engines with slots for the requests and, after them, `slotsPerRequest` further ones of each. */
  readonly engines: ClusterEngines;
}

/** The most further answers that any of these gates asks for. */
export const callsPerRequest = (gates: ReadonlyMap<string, StageGate>): number =>
  Math.max(0, ...[...gates.values()].map(({ samples, peers }) => samples + peers.length));

/**
 * Further answers that agreement gates compare with, on virtual time, as the gateway asks for them (`server/gateway/gates/otherAnswers.ts`):
 * when the stage's own engine is called, on spare engines only, and again when the answer is there. A sample is as long as the answer. All open
 * answers are waited for: the gateway stops earlier where the rest can change nothing, which with one further answer is never.
 */
export class FurtherAnswers {
  private readonly input: FurtherAnswersInput;
  private readonly slots: number;
  /** Of the stage that each request is at; none where its gate compares with nothing. */
  private readonly calls: (readonly Call[])[];
  /** Requests that wait for their last open call. */
  private readonly waits = new Set<number>();
  /** Requests of which all calls are settled. */
  private readonly settled: number[] = [];
  /** Requests that wait for an engine, by model. */
  private readonly queued = new Map<string, number>();
  private readonly queuedAt: (string | undefined)[];
  private freed = false;

  constructor(input: FurtherAnswersInput) {
    this.input = input;
    this.slots = callsPerRequest(input.gates);
    this.calls = new Array<readonly Call[]>(input.requests).fill([]);
    this.queuedAt = new Array<string | undefined>(input.requests).fill(undefined);
  }

  /** The request joined the queue of a model, or left the queues. */
  queue(request: number, model: string | undefined): void {
    const before = this.queuedAt[request];
    if (before !== undefined) this.queued.set(before, (this.queued.get(before) ?? 0) - 1);
    if (model !== undefined) this.queued.set(model, (this.queued.get(model) ?? 0) + 1);
    this.queuedAt[request] = model;
  }

  /** The stage's engine is called: asks for what the gate of its model compares with. */
  start(request: number, { model, prompt, now }: { readonly model: string; readonly prompt: number; readonly now: number }): void {
    const { samples = 0, peers = [] } = this.input.gates.get(model) ?? {};
    const models = [...Array.from({ length: samples }, () => model), ...peers];
    this.calls[request] = models.map((each, index) => ({
      slot: this.input.requests + request * this.slots + index,
      model: each,
      outputTokens: this.input.outcomes.models.find((own) => own.model === each)?.outputTokens[prompt] ?? 1,
      state: "unsent",
    }));
    this.send(request, now);
  }

  /** Takes note of a finished call; false where the slot is that of a request's own answer. */
  take(slot: number): boolean {
    const { requests, engines } = this.input;
    if (slot < requests) return false;
    const request = Math.floor((slot - requests) / this.slots);
    engines.release(slot);
    this.freed = true;
    for (const call of this.calls[request] ?? []) if (call.slot === slot) call.state = "answered";
    if (this.waits.has(request) && !this.isOpen(request)) this.settle(request);
    return true;
  }

  /** The answer is there and its gate reads the others: those that no engine was free for are asked for now. */
  read(request: number, now: number): void {
    this.send(request, now);
    if (this.isOpen(request)) this.waits.add(request);
    else this.settle(request);
  }

  /** The next request whose further answers are all there; null: none. */
  takeSettled(): number | null {
    return this.settled.shift() ?? null;
  }

  /** Whether the gate has anything to compare the request's answer with. */
  hasAny(request: number): boolean {
    return (this.calls[request] ?? []).some(({ state }) => state === "answered");
  }

  /** Whether a call has left an engine since the last time this was asked. */
  takeFreed(): boolean {
    const freed = this.freed;
    this.freed = false;
    return freed;
  }

  private send(request: number, now: number): void {
    const { engines } = this.input;
    for (const call of this.calls[request] ?? []) {
      if (call.state !== "unsent") continue;
      const replica = spareReplica(call.model, { pool: { replicas: engines.views }, queued: this.queued });
      if (replica === undefined) continue;
      // One that exceeds the cache fails at once, as in the gateway.
      if (engines.dispatch(call.slot, replica.id, { atSeconds: now, outputTokens: call.outputTokens })) call.state = "open";
      else engines.release(call.slot);
    }
  }

  private settle(request: number): void {
    this.waits.delete(request);
    this.settled.push(request);
  }

  private isOpen(request: number): boolean {
    return (this.calls[request] ?? []).some(({ state }) => state === "open");
  }
}
