import { type Random, seededRandom } from "@/solver/numeric/random";
import { callGraph } from "../learning/callGraph";
import type { ObservedCall } from "../learning/observedCall";

/** Calls of one program and the true graph; calls by their ids. */
export interface KnownProgram {
  readonly calls: readonly ObservedCall[];
  /** `parent>child`. */
  readonly edges: ReadonlySet<string>;
  /** The successors of each call, in sequential steps. */
  readonly steps: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Calls after which a branch began just as the previous ones ended, within the clock's resolution: looks like sequential children. */
  readonly untold: ReadonlySet<string>;
  readonly shapes: ReadonlySet<ProgramShape>;
}

/** The structure of a program. Every part but `beginnings` starts with one call. */
type Part =
  | { readonly shape: "call"; readonly agent: string }
  | { readonly shape: "chain"; readonly parts: readonly Part[] }
  /** Parallel branches from one call, after which the next call reads the ends of all, or continues from that call. */
  | { readonly shape: "fan-out" | "join"; readonly origin: string; readonly branches: readonly Part[]; readonly join: string }
  /** Children of one call, each begun once all of the previous one has ended. */
  | { readonly shape: "in-turn"; readonly origin: string; readonly branches: readonly Part[] }
  /** Parallel calls of one agent, all read by the next, which names that agent as often. */
  | { readonly shape: "same-agents"; readonly origin: string; readonly worker: string; readonly workers: number; readonly join: string }
  | { readonly shape: "loop"; readonly body: Part; readonly laps: number }
  | { readonly shape: "beginnings"; readonly branches: readonly Part[]; readonly join: string };

export type ProgramShape = Part["shape"] | "unnamed-upstream";

export const TEST_RESOLUTION_SECONDS = 0.001;

/** Clocks are off by less than half the resolution. */
const JITTER_SECONDS = 0.0004;
const MOST_CALLS = 80;

/**
 * A random program: chains, fan-outs with and without a join, sequential children of one parent, loops over any of these by the same
 * agents, several parallel calls of one agent, several beginnings, and chains whose calls name no upstream. The next call arrives at once
 * or after a pause, may wait in a queue, and times have small errors.
 */
export function drawKnownProgram(seed: number): KnownProgram {
  const random = seededRandom(seed);
  const unnamed = random.next() < 0.1;
  const run = new ProgramRun(random, !unnamed);
  const names = { next: 0 };
  let at: Frontier = { calls: [], atSeconds: 100 * random.next() };
  if (!unnamed && random.next() < 0.15) at = run.run(drawBeginnings(random, names), at);
  for (let left = 1 + random.int(4); left > 0; left -= 1) at = run.run(drawPart(random, names, unnamed ? 0 : 3), at);
  return run.known();
}

/**
 * The part of the true graph that a reconstruction from its calls contains. `tied`: only ambiguous steps differ, and the graph reports that
 * there are such.
 */
export function structureFound(program: KnownProgram): "equal" | "tied" | "wrong" {
  const { calls, parents, steps, ties } = callGraph(program.calls, TEST_RESOLUTION_SECONDS);
  const id = (at: number): string => calls[at]?.id ?? "";
  const edges = parents.flatMap((own, at) => own.map((parent) => `${id(parent)}>${id(at)}`));
  if (edges.length !== program.edges.size || edges.some((edge) => !program.edges.has(edge))) return "wrong";
  const other = Array.from(calls.keys()).filter(
    (at) => shown((steps[at] ?? []).map((step) => step.map(id))) !== shown(program.steps.get(id(at)) ?? []),
  );
  if (other.length === 0) return "equal";
  return ties > 0 && other.every((at) => program.untold.has(id(at))) ? "tied" : "wrong";
}

/** Calls of a step are parallel, in no order. */
const shown = (steps: readonly (readonly string[])[]): string => steps.map((step) => step.toSorted().join("+")).join(" ");

interface Names {
  next: number;
}

const newName = (names: Names): string => {
  names.next += 1;
  return `agent-${names.next}`;
};

function drawPart(random: Random, names: Names, deep: number): Part {
  const call = (): Part => ({ shape: "call", agent: newName(names) });
  const inner = (): Part => (random.next() < 0.4 ? call() : drawPart(random, names, deep - 1));
  const several = (draw: () => Part): readonly Part[] => Array.from({ length: 2 + random.int(3) }, draw);
  const chain = (): Part => ({ shape: "chain", parts: several(deep === 0 ? call : inner) });
  const loop = (): Part => ({ shape: "loop", body: deep === 0 ? chain() : inner(), laps: 2 + random.int(2) });
  const origin = newName(names);
  switch (random.int(deep === 0 ? 2 : 6)) {
    case 0:
      return chain();
    case 1:
      return loop();
    case 2:
      return { shape: "fan-out", origin, branches: several(inner), join: "" };
    case 3:
      return { shape: "join", origin, branches: several(inner), join: newName(names) };
    case 4:
      return { shape: "in-turn", origin, branches: several(inner) };
    default:
      return { shape: "same-agents", origin, worker: newName(names), workers: 2 + random.int(3), join: newName(names) };
  }
}

function firstAgentOf(part: Part): string {
  switch (part.shape) {
    case "call":
      return part.agent;
    case "chain":
      return part.parts[0] === undefined ? "" : firstAgentOf(part.parts[0]);
    case "loop":
      return firstAgentOf(part.body);
    case "beginnings":
      return part.join;
    default:
      return part.origin;
  }
}

const drawBeginnings = (random: Random, names: Names): Part => ({
  shape: "beginnings",
  branches: Array.from({ length: 2 + random.int(3) }, () => drawPart(random, names, 1)),
  join: newName(names),
});

/** Calls that the next one reads, and when all before it have ended. */
interface Frontier {
  readonly calls: readonly ObservedCall[];
  readonly atSeconds: number;
}

/** The step of calls begun together, by parent. */
type Together = Map<string, string[]>;

class ProgramRun {
  private readonly calls: ObservedCall[] = [];
  private readonly edges = new Set<string>();
  private readonly steps = new Map<string, string[][]>();
  private readonly untold = new Set<string>();
  private readonly shapes = new Set<ProgramShape>();

  constructor(
    private readonly random: Random,
    private readonly upstreamNamed: boolean,
  ) {
    if (!upstreamNamed) this.shapes.add("unnamed-upstream");
  }

  /** In the order in which the calls ended. */
  known(): KnownProgram {
    const { edges, steps, untold, shapes } = this;
    const off = (seconds: number): number => seconds + JITTER_SECONDS * (2 * this.random.next() - 1);
    const calls = this.calls.map((call) => ({
      ...call,
      arrivedSeconds: off(call.arrivedSeconds),
      finishedSeconds: off(call.finishedSeconds),
    }));
    return { calls: calls.sort((a, b) => a.finishedSeconds - b.finishedSeconds), edges, steps, untold, shapes };
  }

  run(part: Part, from: Frontier, together: Together = new Map()): Frontier {
    if (part.shape !== "call" && this.calls.length > MOST_CALLS) return this.call(firstAgentOf(part), from, together);
    this.shapes.add(part.shape);
    switch (part.shape) {
      case "call":
        return this.call(part.agent, from, together);
      case "chain":
        return part.parts.reduce((at, next, index) => this.run(next, at, index === 0 ? together : new Map()), from);
      case "loop": {
        let at = this.run(part.body, from, together);
        for (let lap = 1; lap < part.laps; lap += 1) at = this.run(part.body, at);
        return at;
      }
      case "fan-out":
      case "join": {
        const origin = this.call(part.origin, from, together);
        const ends = this.sideBySide(part.branches, origin);
        return part.shape === "join" ? this.call(part.join, ends, new Map()) : { ...origin, atSeconds: ends.atSeconds };
      }
      case "beginnings":
        return this.call(part.join, this.sideBySide(part.branches, from), new Map());
      case "in-turn": {
        const origin = this.call(part.origin, from, together);
        let { atSeconds } = origin;
        for (const branch of part.branches) ({ atSeconds } = this.run(branch, { ...origin, atSeconds }));
        return { ...origin, atSeconds };
      }
      case "same-agents": {
        const origin = this.call(part.origin, from, together);
        const workers = Array.from({ length: part.workers }, (): Part => ({ shape: "call", agent: part.worker }));
        return this.call(part.join, this.sideBySide(workers, origin), new Map());
      }
    }
  }

  /** Branches begin together, or while the first call of the first is in flight; rarely just as all before them end. */
  private sideBySide(branches: readonly Part[], from: Frontier): Frontier {
    const together: Together = new Map();
    const first = this.calls.length;
    const ends: ObservedCall[] = [];
    let overSeconds = from.atSeconds;
    for (const [at, branch] of branches.entries()) {
      const staggered = at > 0 && from.calls.length > 0 && this.random.next() < 0.5;
      const touching = staggered && this.random.next() < 0.02;
      if (touching) this.untold.add(from.calls[0]?.id ?? "");
      const { arrivedSeconds = 0, finishedSeconds = 0 } = this.calls[first] ?? {};
      const whileFirst = arrivedSeconds + 0.9 * this.random.next() * (finishedSeconds - arrivedSeconds);
      const atSeconds = touching ? overSeconds : staggered ? whileFirst : at > 0 ? arrivedSeconds : from.atSeconds;
      const end = this.run(branch, { ...from, atSeconds: at === 0 ? atSeconds : -atSeconds }, together);
      ends.push(...end.calls);
      overSeconds = Math.max(overSeconds, end.atSeconds);
    }
    return { calls: ends, atSeconds: overSeconds };
  }

  /** A negative time is exactly the call's arrival; otherwise it arrives then or after a pause. */
  private call(agent: string, { calls: parents, atSeconds }: Frontier, together: Together): Frontier {
    const { random } = this;
    const pauseSeconds = atSeconds < 0 || random.next() < 0.5 ? 0 : random.exponential(2);
    const arrivedSeconds = Math.abs(atSeconds) + pauseSeconds;
    const dispatchedSeconds = arrivedSeconds + (random.next() < 0.3 ? random.exponential(1) : 0);
    const call: ObservedCall = {
      id: `call-${this.calls.length}`,
      programId: "program",
      application: "application",
      agent,
      upstream: this.upstreamNamed ? parents.map((parent) => parent.agent) : [],
      model: "model",
      arrivedSeconds,
      dispatchedSeconds,
      finishedSeconds: dispatchedSeconds + 0.01 + random.exponential(1),
      inputTokens: 100,
      outputTokens: 1 + random.int(500),
      failed: false,
    };
    this.calls.push(call);
    for (const { id } of parents) this.noteEdge(id, call.id, together);
    return { calls: [call], atSeconds: call.finishedSeconds };
  }

  private noteEdge(parent: string, child: string, together: Together): void {
    this.edges.add(`${parent}>${child}`);
    const step = together.get(parent);
    if (step !== undefined) {
      step.push(child);
      return;
    }
    const begun = [child];
    together.set(parent, begun);
    const own = this.steps.get(parent);
    if (own === undefined) this.steps.set(parent, [begun]);
    else own.push(begun);
  }
}
