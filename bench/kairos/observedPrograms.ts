import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ObservedCall } from "@/solver/workflow/learning/observedCall";
import type { AgentCall } from "@/solver/workflow/measuredPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import type { OutcomeTable } from "@/solver/workload/workload";
import { agentRuns } from "../lib/agentRuns";

/** The calls of a program as seen by a gateway where nothing waits, in order of arrival; times since the program began. */
export type ObservedProgram = readonly ObservedCall[];

/** Time per token on an engine that is neither idle nor full. Every latency is proportional to it, so no order depends on it. */
const SECONDS_PER_TOKEN = 0.02;

/** ChatDev's runs: an agent is a phase and a role, and each call names the agent of the one before it. */
export async function recordedPrograms(): Promise<readonly ObservedProgram[]> {
  return (await agentRuns()).map(({ id, calls }) => {
    const agents = calls.map(agentOf);
    return calls.map(({ startSeconds, endSeconds, promptTokens, completionTokens }, at) => ({
      ...{ id: `${id}/${at}`, programId: id, application: "chatdev", agent: agents[at] ?? "", model: "recorded", failed: false },
      upstream: agents.slice(Math.max(0, at - 1), at).filter((agent) => agent !== ""),
      ...{ arrivedSeconds: startSeconds, dispatchedSeconds: startSeconds, finishedSeconds: endSeconds },
      ...{ inputTokens: promptTokens, outputTokens: completionTokens },
    }));
  });
}

/** In one word, as headers name it. */
const agentOf = ({ phase, agent }: AgentCall): string =>
  [phase, agent]
    .filter((part) => part !== "")
    .join(":")
    .replaceAll(/\s+/g, "-");

/** The same calls one right after another, each with its output tokens' time: without pauses, in which people reviewed and programs ran. */
export function withoutPauses(program: ObservedProgram): ObservedProgram {
  let atSeconds = 0;
  return program.map((call) => {
    const startSeconds = atSeconds;
    atSeconds += (call.outputTokens ?? 0) * SECONDS_PER_TOKEN;
    return { ...call, arrivedSeconds: startSeconds, dispatchedSeconds: startSeconds, finishedSeconds: atSeconds };
  });
}

/** Programs of some workflows in equal shares, each agent naming those whose answers it reads; a request has its output tokens' time. */
export function drawnPrograms(outcomes: OutcomeTable, names: readonly string[], count: number): readonly ObservedProgram[] {
  const sample = drawPrograms({
    outcomes,
    prompts: Int32Array.from(outcomes.promptIds.keys()),
    mix: workflows.filter(({ name }) => names.includes(name)).map((workflow) => ({ workflow, share: 1 })),
    correlation: 0.5,
    arrivalSeconds: new Float64Array(count),
    seed: 1,
  });
  return Array.from(sample.workflow, (_, program) => servedAtOnce(sample, program));
}

function servedAtOnce(sample: ProgramSample, program: number): ObservedProgram {
  const { name, stages } = sample.workflows[sample.workflow[program] ?? 0] ?? { name: "", stages: [] };
  const first = sample.firstRequest[program] ?? 0;
  const ended: number[] = [];
  return stages.map(({ role, reads }, stage) => {
    const outputTokens = sample.outputTokens[0]?.[first + stage] ?? 0;
    const startSeconds = Math.max(0, ...reads.map((read) => ended[read] ?? 0));
    const endSeconds = startSeconds + outputTokens * SECONDS_PER_TOKEN;
    ended.push(endSeconds);
    return {
      ...{ id: `${program}/${stage}`, programId: String(program), application: name, agent: role, model: "drawn", failed: false },
      upstream: reads.map((read) => stages[read]?.role ?? ""),
      ...{ arrivedSeconds: startSeconds, dispatchedSeconds: startSeconds, finishedSeconds: endSeconds },
      ...{ inputTokens: sample.givenTokens[first + stage] ?? 0, outputTokens },
    };
  });
}
