import { type WorkflowRunEvent, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { type Answer, type Asked, startTestEngine } from "./testEngine";
import { startTestGateway, type TestGateway } from "./testGateway";
import { jitConfig, justInTime, ladder } from "./testRounds";

/** A gateway that declares a workflow, with an engine for each model that answers with `answer`. */
export async function declaring(workflow: WorkflowDocument, answer: Answer, limits: Parameters<typeof startTestGateway>[0] = {}) {
  const engines = await Promise.all(ladder.map(() => startTestEngine(answer)));
  const gateway = await startTestGateway(limits);
  const urls = engines.map(({ url }) => url);
  const config = jitConfig(urls, justInTime([{ workflow }]), 8);
  await gateway.put(config);
  return { gateway, config, engines, asked: (): readonly Asked[] => engines.flatMap((engine) => engine.asked) };
}

export const runsPath = ({ name }: Pick<WorkflowDocument, "name">): string => `/v1/workflows/${name}/runs`;

/** A workflow whose agents' instructions are their names. */
export const selfNamed = (workflow: WorkflowDocument): WorkflowDocument => ({
  ...workflow,
  agents: workflow.agents.map((agent) => ({ ...agent, instructions: agent.name })),
});

/** Runs the whole workflow. */
export async function runOf(gateway: Pick<TestGateway, "post">, workflow: Pick<WorkflowDocument, "name">, body: object = {}) {
  const answer = await gateway.post(runsPath(workflow), { input: "What is 2 + 2?", ...body });
  return { status: answer.status, headers: answer.headers, run: workflowRunSchema.parse(await answer.json()) };
}

/** What an agent was asked, by role. */
export function messagesOf({ body }: Asked): Record<string, string> {
  const messages = body.messages as readonly { readonly role: string; readonly content: string }[];
  return Object.fromEntries(messages.map(({ role, content }) => [role, content]));
}

/** The agent of a request to an engine: its instructions are its name. */
export const agentOf = (asked: Asked): string => messagesOf(asked).system ?? "";

/** The events of a stream's text, each with its event name. */
export function eventsOf(text: string): readonly (WorkflowRunEvent & { readonly event: string })[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const [name = "", data = ""] = block.split("\n");
      return { event: name.slice("event: ".length), ...(JSON.parse(data.slice("data: ".length)) as WorkflowRunEvent) };
    });
}
