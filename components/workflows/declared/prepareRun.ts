import type { Tone } from "@/components/ui/Badge";
import { formatCount, formatSeconds } from "@/components/ui/format";
import type { WorkflowRun } from "@/server/contracts/studio";

export interface RunPicture {
  readonly word: string;
  readonly tone: Tone;
  readonly says: string;
  readonly stages: readonly {
    readonly agent: string;
    readonly model: string;
    readonly decisionId: string;
    readonly tokens: string;
    readonly seconds: string;
    readonly output: string;
  }[];
  /** Agents that it did not reach. */
  readonly missing: readonly string[];
}

const tokens = (count: number | null): string => (count === null ? "not counted" : formatCount(count));

/** The display of a finished run. `agents`: those of its workflow. */
export function prepareRun(run: WorkflowRun, agents: readonly string[]): RunPicture {
  const { status, seconds, stages, error } = run;
  const done = new Set(stages.map(({ agent }) => agent));
  const took = formatSeconds(seconds);
  return {
    ...(status === "completed" ? ({ word: "completed", tone: "good" } as const) : ({ word: "failed", tone: "bad" } as const)),
    says:
      error === null
        ? `${took} from the first agent's start to the last one's answer.`
        : `After ${took}${error.agent === null ? "" : ` at ${error.agent}`}: ${error.message}`,
    stages: stages.map(({ agent, model, decisionId, inputTokens, outputTokens, output, seconds: own }) => ({
      ...{ agent, model, decisionId, output, seconds: formatSeconds(own) },
      tokens: `${tokens(inputTokens)} in, ${tokens(outputTokens)} out`,
    })),
    missing: agents.filter((agent) => !done.has(agent)),
  };
}
