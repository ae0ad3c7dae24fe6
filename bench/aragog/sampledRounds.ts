import type { Random } from "@/solver/numeric/random";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { ReplicaView, WaitingWork } from "@/solver/policies/core/policy";
import { justInTimeDocument } from "@/solver/policies/justInTime/justInTimeDocument";
import { ProgramConfigurations } from "@/solver/policies/justInTime/programConfigurations";
import { StagedWorkflow } from "@/solver/policies/justInTime/stagedWorkflow";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { shippedReplica } from "../lib/replica";

type Selection = JustInTimePolicy["selection"];

const ENGINES = [
  ["qwen2.5-3b", 3, 1],
  ["qwen2.5-7b", 7, 2],
  ["qwen2.5-32b", 32, 4],
] as const;

/** The source's workflows: two chains, four voters and a count, and tasks that fan out and in. */
const SOURCES = ["self-refine", "text-to-sql", "voting", "decomposition"];

/** Answers of half to one and a half times 200 tokens; otherwise all of a batch would begin and end together. */
const requests = {
  inputTokens: new Int32Array(101).fill(400),
  outputTokens: Int32Array.from({ length: 101 }, (_, at) => 100 + 2 * at),
  seed: 1,
};

const profiled = justInTimeDocument({
  models: ENGINES.map(([model, cost, tp]) => ({ model, cost, replica: shippedReplica(model, "h100-sxm", tp), requests })),
  workflows: workflows.filter(({ name }) => SOURCES.includes(name)).map((workflow) => ({ workflow: documentOfWorkflow(workflow) })),
  selection: { kind: "exhaustive" },
});

/** A policy over three models with the throughput of their engines on one, two and four H100. */
export const documentOf = (selection: Selection): JustInTimePolicy => ({ ...profiled, selection });

/** The configurations that are at least as large throughout as one of a few drawn: outcomes without any exception from monotonicity. */
function drawnUpSet(space: ConfigurationSpace, random: Random): Uint32Array {
  const set = emptySet(space.size);
  const least = Array.from({ length: 1 + random.int(3) }, () => random.int(space.size));
  for (let configuration = 0; configuration < space.size; configuration += 1) {
    const above = least.some((one) => space.agents.every((_, agent) => modelIn(space, configuration, agent) >= modelIn(space, one, agent)));
    if (above) addConfiguration(set, configuration);
  }
  return set;
}

/** A program of a drawn workflow at a drawn point of its progress, and its waiting agents. */
export interface DrawnProgram {
  readonly program: ProgramConfigurations;
  readonly waits: readonly number[];
}

const staged = profiled.workflows.map((_, index) => new StagedWorkflow(profiled, index));

export function drawnProgram(programId: string, random: Random): DrawnProgram {
  const workflow = staged[random.int(staged.length)] as StagedWorkflow;
  const { space } = workflow;
  const program = new ProgramConfigurations(programId, workflow);
  program.say(drawnUpSet(space, random));
  const answered = random.int(space.agents.length);
  for (let agent = 0; agent < answered; agent += 1) {
    const may = space.models.flatMap((_, model) => (program.allowed(agent, 0) & (1 << model) ? [model] : []));
    program.choose(agent, may[random.int(may.length)] ?? 0);
  }
  const waits = space.agents.flatMap((_, agent) => {
    const ready = agent >= answered && (space.reads[agent] ?? []).every((read) => read < answered);
    return ready ? [agent] : [];
  });
  return { program, waits };
}

/** Requests of new programs, all agents without inputs, with their accurate configurations. */
export function drawnRequests(count: number, random: Random, from: number): WaitingWork[] {
  const waiting: WaitingWork[] = [];
  for (let program = from; waiting.length < count; program += 1) {
    const workflow = staged[random.int(staged.length)] as StagedWorkflow;
    const accurate = drawnUpSet(workflow.space, random);
    for (const [agent, name] of workflow.space.agents.entries()) {
      if (workflow.space.reads[agent]?.length !== 0 || waiting.length === count) continue;
      waiting.push({
        ...{ id: `${program} ${name}`, programId: `${program}`, stage: 2, programArrivalSeconds: program, queuedSinceSeconds: program },
        ...{ inputTokens: 400, call: { workflow: workflow.name, agent: name }, accurate, state: { kind: "queued" } },
      });
    }
  }
  return waiting;
}

/** Replicas of the three models in turn, with so many free slots each below saturation. */
export function replicasOf(count: number, free: readonly number[]): ReplicaView[] {
  return Array.from({ length: count }, (_, at) => {
    const { model, saturationBatch } = profiled.models[at % 3] as JustInTimePolicy["models"][number];
    const inFlight = Math.max(0, saturationBatch - (free[at] ?? 0));
    return { id: `${model} ${at}`, model, inFlight, maxInFlight: 1024, accepting: true, kvUse: { state: "absent" } };
  });
}
