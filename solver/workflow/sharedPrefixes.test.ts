import { describe, expect, it } from "vitest";
import { BLOCK_TOKENS, sharedBlocks } from "@/solver/prefix/promptBlocks";
import { type AgentRun, measuredPrograms } from "./measuredPrograms";
import type { ProgramSample } from "./programSample";
import { withSharedPrefixes } from "./sharedPrefixes";

const call = (agent: string, blocks: number) => ({ agent, phase: "", promptTokens: blocks * BLOCK_TOKENS, completionTokens: 1 });
const run: AgentRun = { id: "a", calls: [call("coder", 4), call("reviewer", 8), call("coder", 10), call("coder", 8)] };

/** Two programs of the same recorded run. */
const sample: ProgramSample = measuredPrograms({ runs: [run], models: ["m"], arrivalSeconds: Float64Array.of(0, 1), seed: 1 });

function shared(conversations: boolean) {
  const { promptBlocks = [] } = withSharedPrefixes(sample, { conversations });
  return (one: number, other: number): number =>
    sharedBlocks(promptBlocks[one] ?? new Uint32Array(), promptBlocks[other] ?? new Uint32Array());
}

describe("withSharedPrefixes", () => {
  it("gives each prompt as many blocks as its recorded length has, the answer that it reads among them", () => {
    const { promptBlocks } = withSharedPrefixes(sample, { conversations: false });
    expect(promptBlocks?.slice(0, 4).map(({ length }) => length)).toEqual([4, 8, 10, 8]);
  });

  it("shares an agent's instructions over programs, and nothing between agents", () => {
    const of = shared(false);
    expect([of(0, 4), of(0, 2), of(2, 6), of(1, 5)]).toEqual([3, 3, 3, 6]);
    expect(of(0, 1)).toBe(0);
  });

  it("shares whole earlier prompts of an agent within a program where conversations continue", () => {
    const of = shared(true);
    expect([of(0, 2), of(2, 3), of(2, 6)]).toEqual([4, 8, 3]);
  });

  it("takes the instructions' length from stages that state it", () => {
    const [workflow] = sample.workflows;
    const stated = { ...workflow!, stages: workflow!.stages.map((stage) => ({ ...stage, instructionTokens: 2 * BLOCK_TOKENS })) };
    const { promptBlocks } = withSharedPrefixes({ ...sample, workflows: [stated] }, { conversations: false });
    expect(sharedBlocks(promptBlocks![0]!, promptBlocks![4]!)).toBe(2);
  });
});
