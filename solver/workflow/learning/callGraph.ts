import { type CallSteps, callSteps, type Extents } from "./callSteps";
import type { ObservedCall } from "./observedCall";
import { upstreamCalls } from "./upstreamCalls";

/** The calls of one program and their successors. Numbers are indices into its calls. */
export interface CallGraph {
  /** In the order of arrival. */
  readonly calls: readonly ObservedCall[];
  /** The calls whose answers each call follows; empty for the program's first calls. */
  readonly parents: readonly (readonly number[])[];
  /** The successors of each call, in sequential steps; calls of one step are parallel. */
  readonly steps: readonly (readonly (readonly number[])[])[];
  /** Number of sequential calls before each. */
  readonly depth: Int32Array;
  /** Number of sequential calls still to come, including the call itself. */
  readonly remainingCalls: Int32Array;
  /** Calls that named an upstream agent which was not found. */
  readonly missingUpstream: number;
  /** Pairs of calls of one parent that touch within the clock's resolution. */
  readonly ties: number;
}

/** For a call that only the program's start dominates. */
const BEGINNING = -1;

/** For a call that is its whole program, as most are where clients give no program. */
const ALONE: Omit<CallGraph, "calls"> = {
  parents: [[]],
  steps: [[]],
  depth: Int32Array.of(0),
  remainingCalls: Int32Array.of(1),
  missingUpstream: 0,
  ties: 0,
};

/**
 * Reconstructs the graph of one program's calls from upstream names and times (Kairos, section 4.2). Several calls of one parent are
 * classified as parallel or sequential by their extents: each from its arrival to the last end of the calls that depend on it alone. A call
 * that follows several others depends on its immediate dominator, the nearest call on all paths to it. O(n log n) except for the depth of
 * joins.
 *
 * @param calls of one program; times finite, none finished before it arrived. In any order, but calls with the same arrival time keep their
 * order.
 * @param resolutionSeconds two times no further apart may be in either order.
 */
export function callGraph(calls: readonly ObservedCall[], resolutionSeconds: number): CallGraph {
  if (calls.length === 1 && calls[0]?.upstream.length === 0) return { calls, ...ALONE };
  const came = calls.toSorted((a, b) => a.arrivedSeconds - b.arrivedSeconds);
  const { parents, missing } = upstreamCalls(came, resolutionSeconds);
  const dominators = dominatorsOf(parents);
  const extents = extentsOf(came, dominators);
  const inSteps = (children: readonly number[]): CallSteps => callSteps(children, extents, resolutionSeconds);

  const followed = childrenOf(parents).map(inSteps);
  const hanging = childrenOf(Array.from(dominators, (dominator) => [dominator])).map((children) => inSteps(children).steps);
  const beginnings = inSteps(Array.from(came.keys()).filter((at) => dominators[at] === BEGINNING)).steps;
  return {
    calls: came,
    parents,
    steps: followed.map(({ steps }) => steps),
    ...chains(parents, { hanging, beginnings }),
    missingUpstream: missing,
    ties: followed.reduce((sum, { ties }) => sum + ties, 0),
  };
}

/** The immediate dominator of each call: the nearest on every path from the program's start. */
function dominatorsOf(parents: readonly (readonly number[])[]): Int32Array {
  const dominators = new Int32Array(parents.length).fill(BEGINNING);
  for (const [at, own] of parents.entries()) {
    let common = own[0] ?? BEGINNING;
    // Both climb until they meet: a call always comes after its dominator.
    for (let other of own) {
      while (common !== other) {
        if (common > other) common = dominators[common] ?? BEGINNING;
        else other = dominators[other] ?? BEGINNING;
      }
    }
    dominators[at] = common;
  }
  return dominators;
}

function extentsOf(calls: readonly ObservedCall[], dominators: Int32Array): Extents {
  const untilSeconds = Float64Array.from(calls, ({ finishedSeconds }) => finishedSeconds);
  for (let at = calls.length - 1; at >= 0; at -= 1) {
    const dominator = dominators[at] ?? BEGINNING;
    if (dominator !== BEGINNING) untilSeconds[dominator] = Math.max(untilSeconds[dominator] ?? 0, untilSeconds[at] ?? 0);
  }
  return { fromSeconds: Float64Array.from(calls, ({ arrivedSeconds }) => arrivedSeconds), untilSeconds };
}

/** Ascending; calls that depend on the start only are no call's children. */
function childrenOf(parents: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const children: number[][] = parents.map(() => []);
  for (const [at, own] of parents.entries()) for (const parent of own) children[parent]?.push(at);
  return children;
}

type Steps = readonly (readonly number[])[];

/** Longest chains of calls before and after each, through its own steps and those that come after them. */
function chains(
  parents: readonly (readonly number[])[],
  { hanging, beginnings }: { readonly hanging: readonly Steps[]; readonly beginnings: Steps },
): { readonly depth: Int32Array; readonly remainingCalls: Int32Array } {
  const count = parents.length;
  const height = new Int32Array(count);
  const tallest = (step: readonly number[]): number => step.reduce((most, call) => Math.max(most, height[call] ?? 0), 0);
  for (let at = count - 1; at >= 0; at -= 1) height[at] = (hanging[at] ?? []).reduce((sum, step) => sum + tallest(step), 1);

  const depth = new Int32Array(count);
  const after = new Int32Array(count);
  const setSteps = (steps: Steps, before: number, later: number): void => {
    const heights = steps.map(tallest);
    let passed = before;
    let left = heights.reduce((sum, own) => sum + own, later);
    for (const [at, step] of steps.entries()) {
      left -= heights[at] ?? 0;
      for (const call of step) {
        depth[call] = passed;
        after[call] = left;
      }
      passed += heights[at] ?? 0;
    }
  };
  setSteps(beginnings, 0, 0);
  for (let at = 0; at < count; at += 1) setSteps(hanging[at] ?? [], (depth[at] ?? 0) + 1, after[at] ?? 0);

  // Calls that follow only some of a step are in that step by their times; their parents still come before them.
  const remainingCalls = height.map((own, at) => own + (after[at] ?? 0));
  for (const [at, own] of parents.entries()) {
    for (const parent of own) depth[at] = Math.max(depth[at] ?? 0, (depth[parent] ?? 0) + 1);
  }
  for (let at = count - 1; at >= 0; at -= 1) {
    for (const parent of parents[at] ?? []) remainingCalls[parent] = Math.max(remainingCalls[parent] ?? 0, (remainingCalls[at] ?? 0) + 1);
  }
  return { depth, remainingCalls };
}
