import { BLOCK_TOKENS, MOST_BLOCKS, nextBlock } from "@/solver/prefix/promptBlocks";
import type { ProgramSample } from "./programSample";

/** Instructions in a recorded prompt whose length is not recorded, relative to the shortest prompt of its agent: the rest is its task. */
const INSTRUCTION_SHARE = 0.75;

/** What prompts are modelled to share. */
export interface SharedPrefixes {
  /**
   * Whether an agent's later calls in a program continue its earlier ones, as those of an agent that keeps its history do: they begin with as
   * much of the same text as both have. Without it calls of one agent share its instructions alone.
   */
  readonly conversations: boolean;
}

/**
 * Programs with modelled hashes of their prompts' blocks, since no texts of them are known. A prompt begins with its agent's instructions,
 * which are the same in all programs: as many tokens as its stage states, or, where a run was recorded without that, three quarters of the
 * shortest prompt of the agent. What follows is its program's own.
 */
export function withSharedPrefixes(sample: ProgramSample, { conversations }: SharedPrefixes): ProgramSample {
  const roles = Array.from(sample.program, (_, request) => roleOf(sample, request));
  const ids = new Map([...new Set(roles)].map((role, id) => [role, id]));
  const lengths = Int32Array.from(roles, (_, request) => promptTokensOf(sample, request));
  const shortest = new Map<string, number>();
  for (const [request, role] of roles.entries())
    shortest.set(role, Math.min(shortest.get(role) ?? Number.POSITIVE_INFINITY, lengths[request] ?? 0));
  const promptBlocks = roles.map((role, request) => {
    const { instructionTokens } = stageOf(sample, request);
    const shared = instructionTokens > 0 ? instructionTokens : INSTRUCTION_SHARE * (shortest.get(role) ?? 0);
    const blocks = new Uint32Array(Math.min(MOST_BLOCKS, Math.floor((lengths[request] ?? 0) / BLOCK_TOKENS)));
    const common = Math.min(blocks.length, Math.floor(shared / BLOCK_TOKENS));
    let hash = nextBlock(0, ids.get(role) ?? 0);
    for (let block = 0; block < blocks.length; block += 1) {
      const own = conversations ? (sample.program[request] ?? 0) : request;
      hash = nextBlock(hash, block === common ? own + 1 : 0);
      blocks[block] = hash;
    }
    return blocks;
  });
  return { ...sample, promptBlocks };
}

function stageOf(sample: ProgramSample, request: number) {
  const program = sample.program[request] ?? 0;
  const stage = sample.workflows[sample.workflow[program] ?? 0]?.stages[request - (sample.firstRequest[program] ?? 0)];
  if (stage === undefined) throw new RangeError(`The programs have no request ${request}`);
  return stage;
}

/** Agents of one role in workflows of one name have the same instructions. */
function roleOf(sample: ProgramSample, request: number): string {
  const program = sample.program[request] ?? 0;
  const name = sample.workflows[sample.workflow[program] ?? 0]?.name ?? "";
  return `${name}/${stageOf(sample, request).role}`;
}

/** Tokens of the prompt, with the answers that it reads as the smallest model writes them. */
function promptTokensOf(sample: ProgramSample, request: number): number {
  const first = sample.firstRequest[sample.program[request] ?? 0] ?? 0;
  const written = stageOf(sample, request).reads.map((stage) => sample.outputTokens[0]?.[first + stage] ?? 0);
  return written.reduce((sum, tokens) => sum + tokens, sample.givenTokens[request] ?? 0);
}
