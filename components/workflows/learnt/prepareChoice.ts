import type { AgentView, ApplicationView } from "@/solver/workflow/learning/workflowsView";
import { applicationOf } from "../graph/agentIdentity";
import type { WorkflowsView } from "../graph/workflowsCodec";

/** The application that the address names, or that of the agent it names, else the first; null: none. */
export function chosenApplication(
  applications: readonly ApplicationView[],
  { app, agent }: Pick<WorkflowsView, "app" | "agent">,
): ApplicationView | null {
  const named = (name: string | null) => applications.find((one) => one.name === name);
  return named(app ?? (agent === null ? null : applicationOf(agent))) ?? applications[0] ?? null;
}

/** The agent that the address names, of any application, else the one that the application calls most, else the first known; null: none. */
export function chosenAgent(agents: readonly AgentView[], application: ApplicationView | null, named: string | null): AgentView | null {
  const mostCalled = application?.nodes.toSorted((a, b) => b.calls - a.calls)[0]?.key;
  const withKey = (key: string | null | undefined) => agents.find((agent) => agent.key === key);
  return withKey(named) ?? withKey(mostCalled) ?? agents[0] ?? null;
}
