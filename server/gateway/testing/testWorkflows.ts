import { expect } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayWorkflows, gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { sayCompletion, startTestEngine, type TestEngine } from "./testEngine";
import { type AdminPort, oneModel, startTestGateway, type TestGateway, until } from "./testGateway";

type Urls = Pick<TestGateway, "adminUrl" | "dataUrl">;

/** Engine seconds per wall second: a program that is silent for half a minute has ended after 0.3 s. */
export const timeScale = 100;

export const served = ({ url }: Pick<TestEngine, "url">): GatewayConfig => ({ ...oneModel([url]), timeScale });

export const quickEngine = () => startTestEngine((_, response) => sayCompletion(response, "done"));

export async function workflowsOf({ adminUrl, adminHeaders = {} }: AdminPort): Promise<GatewayWorkflows> {
  return gatewayWorkflowsSchema.parse(await (await fetch(`${adminUrl}/workflows`, { headers: adminHeaders })).json());
}

export const programsOf = async (gateway: AdminPort): Promise<number> => (await workflowsOf(gateway)).learnt.counts.programs;

export async function forget(
  { adminUrl }: Pick<Urls, "adminUrl">,
  body: object = { by: "ada", reason: "another team moves in" },
): Promise<Response> {
  return fetch(`${adminUrl}/workflows`, { method: "DELETE", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** The engine sees `user`, which is the agent's name by default. */
export async function call(
  { dataUrl }: Pick<Urls, "dataUrl">,
  headers: Record<string, string>,
  user = headers["x-weir-agent"] ?? "",
): Promise<void> {
  const body = JSON.stringify({ model: "cascade/test", messages: [{ role: "user", content: "Go on." }], user });
  const answer = await fetch(`${dataUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

/** Plan, code, review, code again: in its own session. */
export async function runProgram(gateway: Pick<Urls, "dataUrl">, session: string): Promise<void> {
  const agents = ["planner", "coder", "reviewer", "coder"];
  for (const [at, agent] of agents.entries()) {
    const before = agents[at - 1];
    const upstream: Record<string, string> = before === undefined ? {} : { "x-weir-parents": before };
    await call(gateway, { "x-session-id": session, "x-weir-workflow": "develop", "x-weir-agent": agent, ...upstream });
  }
}

/** A gateway that has learnt of two programs. */
export async function learntGateway(stateDirectory?: string) {
  const engine = await quickEngine();
  const gateway = await startTestGateway({}, stateDirectory === undefined ? {} : { stateDirectory });
  await gateway.put(served(engine));
  for (const session of ["s1", "s2"]) await runProgram(gateway, session);
  await until(async () => (await programsOf(gateway)) === 2);
  return { gateway, engine };
}
