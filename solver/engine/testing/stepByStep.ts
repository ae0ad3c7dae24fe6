import type { EngineRequest, ReplicaEventKind } from "../replica";
import type { EngineAging, EngineFeedback, ReplicaModel } from "../replicaModel";

export interface SeenEvent {
  readonly kind: ReplicaEventKind;
  readonly handle: number;
  readonly seconds: number;
}

/** One engine step. */
interface SeenStep {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly kvTokens: number;
  readonly decoding: number;
}

export interface StepByStep {
  readonly requests: readonly EngineRequest[];
  /** Requests to abort, by their position in `requests`. */
  readonly aborts?: readonly { readonly handle: number; readonly atSeconds: number }[];
  /** A closed loop: each of `requests` is sent when an earlier one ends, whatever its `atSeconds`. */
  readonly concurrency?: number;
}

interface Sequence {
  readonly handle: number;
  readonly request: EngineRequest;
  readonly cached: number;
  /** Its level, with feedback: it grows. */
  priority: number;
  levelServed: number;
  arrival: number;
  /** When the front end passes it to the engine. */
  enters: number;
  /** Its state: "coming" until it arrives, "gone" once finished, refused or aborted. */
  place: "coming" | "waiting" | "prefilling" | "decoding" | "gone";
  aborted: boolean;
  prefilled: number;
  /** Whether it counts as starved, consecutive steps that passed it over, and steps of service since it was put ahead. */
  ahead: boolean;
  passed: number;
  served: number;
  readonly tokenSeconds: number[];
}

/**
 * A second, plain implementation of the engine of `ContinuousBatching`, as a reference for tests: one engine step at a time, plain
 * arrays, every sum recomputed, no jump and no aggregate. Of the front end it has the work on requests, not that on tokens. Slow.
 *
 * @returns events in order, the steps, and when each request got each of its tokens.
 */
export function stepByStep(model: ReplicaModel, { requests, aborts = [], concurrency }: StepByStep) {
  const events: SeenEvent[] = [];
  const steps: SeenStep[] = [];
  const sequences = requests.map((request, handle): Sequence => {
    const fits = request.inputTokens + request.outputTokens <= model.kvTokens;
    return {
      handle,
      request,
      cached: Math.min(request.cachedTokens ?? 0, request.inputTokens - 1),
      priority: request.priority ?? 0,
      levelServed: 0,
      arrival: concurrency === undefined ? request.atSeconds : Number.POSITIVE_INFINITY,
      enters: Number.POSITIVE_INFINITY,
      place: fits ? "coming" : "gone",
      aborted: false,
      prefilled: 0,
      ahead: false,
      passed: 0,
      served: 0,
      tokenSeconds: [],
    };
  });
  /** In the order of admission. */
  let running: Sequence[] = [];
  const unsent = concurrency === undefined ? [] : sequences.filter((one) => one.place === "coming");
  let frontEndFree = 0;
  const passFrontEnd = (one: Sequence): void => {
    frontEndFree = Math.max(frontEndFree, one.arrival) + model.requestSeconds(one.request.inputTokens);
    one.enters = frontEndFree;
  };
  if (concurrency === undefined) for (const one of sequences) if (one.place === "coming") passFrontEnd(one);
  const send = (now: number, count: number): void => {
    for (const one of unsent.splice(0, count)) {
      one.arrival = now;
      passFrontEnd(one);
    }
  };
  const needed = (one: Sequence): number => one.request.inputTokens + one.tokenSeconds.length;
  const held = (): number => running.reduce((sum, one) => sum + needed(one), 0);
  const byKey = (a: Sequence, b: Sequence): number =>
    Number(b.ahead) - Number(a.ahead) || a.priority - b.priority || a.arrival - b.arrival || a.handle - b.handle;
  let promotions = 0;
  const tell = (kind: ReplicaEventKind, one: Sequence, seconds: number): void => {
    if (!one.aborted) events.push({ kind, handle: one.handle, seconds });
  };

  /** Performs the aborts in a time interval in which no step ends. */
  const giveUp = (from: number, before: number): void => {
    for (const { handle, atSeconds } of aborts) {
      const one = sequences[handle];
      if (one === undefined || one.place === "gone" || atSeconds < from || atSeconds >= before) continue;
      one.aborted = true;
      if (one.place === "coming" || one.place === "waiting") one.place = "gone";
    }
  };

  const takeOutLast = (now: number, among: readonly Sequence[] = running): void => {
    const victim = [...among].sort(byKey).at(-1);
    if (victim === undefined) return;
    running = running.filter((one) => one !== victim);
    Object.assign(victim, { place: "waiting", prefilled: 0, passed: 0 });
    tell("preempted", victim, now);
  };
  const preempt = (now: number): boolean => {
    const preempts = held() > model.kvTokens;
    while (held() > model.kvTokens) takeOutLast(now);
    return preempts;
  };

  /** Before a step: moves running requests down that have had their quantum. */
  const demote = ({ quantaSteps }: EngineFeedback): void => {
    for (const one of running) {
      const quantum = quantaSteps[one.priority];
      if (quantum !== undefined && one.levelServed >= quantum) Object.assign(one, { priority: one.priority + 1, levelServed: 0 });
    }
  };
  /** Takes requests of lower levels out for the most urgent waiting one, if it fits then and not otherwise. */
  const makeRoom = (now: number): void => {
    const [head] = sequences.filter((one) => one.place === "waiting").sort(byKey);
    if (head === undefined) return;
    const fits = (): boolean => running.length < model.maxSequences && held() + needed(head) < model.kvTokens;
    const isLower = (one: Sequence): boolean => (one.ahead === head.ahead ? one.priority > head.priority : head.ahead);
    const mayLeave = (one: Sequence): boolean => one.place === "decoding" && isLower(one);
    const kept = running.filter((one) => !mayLeave(one));
    const keptTokens = kept.reduce((sum, one) => sum + needed(one), 0);
    if (kept.length >= model.maxSequences || keptTokens + needed(head) >= model.kvTokens) return;
    while (!fits()) takeOutLast(now, running.filter(mayLeave));
  };

  /** Before a step: determines which requests are put ahead and which no longer are. */
  const age = ({ starvedSteps, quantumSteps }: EngineAging): void => {
    for (const one of running) if (one.ahead && one.served >= quantumSteps) one.ahead = false;
    for (const one of sequences) {
      if (one.place !== "waiting" || one.ahead || one.passed < starvedSteps) continue;
      Object.assign(one, { ahead: true, served: 0 });
      promotions += 1;
    }
  };

  /** One step from `now`; returns its end. `null` when there is nothing to do. */
  const step = (now: number): number | null => {
    if (model.aging !== undefined) age(model.aging);
    if (model.feedback !== undefined) demote(model.feedback);
    const preempted = preempt(now);
    for (const one of sequences) if (one.place === "coming" && one.enters <= now) one.place = "waiting";
    if (model.feedback !== undefined && !preempted) makeRoom(now);
    const decoders = running.filter((one) => one.place === "decoding");
    const chunks: { readonly one: Sequence; readonly tokens: number }[] = [];
    let budget = model.maxBatchedTokens - decoders.length;
    const take = (one: Sequence): void => {
      const tokens = Math.min(budget, needed(one) - one.prefilled);
      if (tokens > 0) chunks.push({ one, tokens });
      budget -= tokens;
    };
    for (const one of running) if (one.place === "prefilling") take(one);
    while (!preempted && budget > 0 && running.length < model.maxSequences) {
      const [head] = sequences.filter((one) => one.place === "waiting").sort(byKey);
      if (head === undefined || held() + needed(head) >= model.kvTokens) break;
      Object.assign(head, { place: "prefilling", prefilled: head.cached, passed: 0 });
      running.push(head);
      tell("admitted", head, now);
      take(head);
    }
    if (running.length === 0) return null;
    for (const one of sequences) if (one.place === "waiting") one.passed += 1;
    for (const one of running) {
      one.served += 1;
      one.levelServed += 1;
    }

    const kvTokensRead = decoders.reduce((sum, one) => sum + needed(one), 0);
    const seconds =
      chunks.length === 0
        ? model.stepTime.decodeBaseSeconds(decoders.length) + model.stepTime.secondsPerKvToken * kvTokensRead
        : model.stepTime.mixedStepSeconds({
            tokens: decoders.length + chunks.reduce((sum, { tokens }) => sum + tokens, 0),
            prefillTokens: chunks.reduce((sum, { tokens }) => sum + tokens, 0),
            prefillPairs: chunks.reduce((sum, { one, tokens }) => sum + tokens * one.prefilled + (tokens * (tokens + 1)) / 2, 0),
            kvTokensRead,
            sequences: decoders.length + chunks.length,
          });
    const end = now + seconds;
    steps.push({ fromSeconds: now, toSeconds: end, kvTokens: held(), decoding: decoders.length });
    giveUp(now, end);
    const token = (one: Sequence): void => {
      one.tokenSeconds.push(end);
      if (one.tokenSeconds.length === 1) tell("first-token", one, end);
      if (one.tokenSeconds.length < one.request.outputTokens) return;
      tell("finished", one, end);
      one.place = "gone";
    };
    // The decoding ones of requests that end together are reported first, in the order of arrival.
    for (const one of [...decoders].sort((a, b) => a.handle - b.handle)) token(one);
    for (const { one, tokens } of chunks) {
      one.prefilled += tokens;
      if (one.prefilled < needed(one)) continue;
      one.place = "decoding";
      token(one);
    }
    for (const one of running) if (one.aborted) one.place = "gone";
    running = running.filter((one) => one.place !== "gone");
    return end;
  };

  let now = 0;
  const answered = new Set<number>();
  send(0, concurrency ?? 0);
  for (;;) {
    const end = step(now);
    const seen = events
      .filter(({ kind, handle, seconds }) => kind === "finished" && seconds <= now && !answered.has(handle))
      .map(({ handle, seconds }) => ({ handle, atSeconds: seconds }))
      .sort((a, b) => a.atSeconds - b.atSeconds || a.handle - b.handle);
    // A client sees an end after the engine has begun its next step.
    for (const { handle, atSeconds } of seen) {
      if (atSeconds > (end ?? seen[0]?.atSeconds ?? 0)) break;
      answered.add(handle);
      send(atSeconds, 1);
    }
    if (end !== null) {
      now = end;
      continue;
    }
    const next = Math.min(...sequences.filter((one) => one.place === "coming").map((one) => one.enters));
    if (next === Number.POSITIVE_INFINITY) break;
    giveUp(now, next);
    now = Math.max(now, next);
  }
  return {
    events,
    steps,
    tokenSeconds: sequences.map((one) => one.tokenSeconds),
    arrivalSeconds: sequences.map((one) => one.arrival),
    promotions,
    preemptions: events.filter(({ kind }) => kind === "preempted").length,
  };
}
