import { expect } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type Canary, type CanaryRequest, canarySchema, gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { type Answer, sayCompletion, startTestEngine } from "./testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig } from "./testGateway";

export const signed = { by: "ada", reason: "the new plan" };
const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
export const fixed = (model: string) => hashed({ kind: "fixed", model, ...queueing });
export const candidate: CanaryRequest["candidate"] = { planId: "plan-new", ...fixed("large") };

export const asked: CanaryRequest = {
  candidate,
  shares: [0.5, 1],
  stepSeconds: 0.01,
  minRequests: 20,
  stop: { errorShare: 0.1, slow: null },
  ...signed,
};

export const begin = ({ adminUrl }: TestGateway, body: unknown) =>
  fetch(`${adminUrl}/canary`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
export const withdraw = ({ adminUrl }: TestGateway) =>
  fetch(`${adminUrl}/canary`, { method: "DELETE", headers: { "content-type": "application/json" }, body: JSON.stringify(signed) });
export const canaryOf = async ({ adminUrl }: TestGateway): Promise<Canary> =>
  canarySchema.parse(await (await fetch(`${adminUrl}/canary`)).json());
export const configOf = async ({ adminUrl }: TestGateway) => (await (await fetch(`${adminUrl}/config`)).json()) as GatewayConfig;
export const auditOf = async ({ adminUrl }: TestGateway) =>
  gatewayAuditPageSchema.parse(await (await fetch(`${adminUrl}/audit`)).json()).lines.map(({ action }) => action);
export const ofProgram = ({ post }: TestGateway, program: string, model = "cascade/default") =>
  post("/v1/chat/completions", { model, messages: [{ role: "user", content: "What is 2 + 2?" }] }, { "x-session-id": program });

/** A gateway where every request goes to the small model, and a large one whose engine answers as given. */
export async function smallInForce(large: Answer = (_, response) => sayCompletion(response, "large"), maxInFlight = 64) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const engine = await startTestEngine(large);
  const stateDirectory = await temporaryDirectory();
  const gateway = await startTestGateway({ attemptsPerStage: 1 }, { stateDirectory });
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [engine.url] },
  ];
  const config = {
    ...testConfig({ stages, maxInFlight, planId: "plan-old", thresholds: [50], judgeUrl: "http://127.0.0.1:9" }),
    ...fixed("small"),
  };
  await gateway.put(config);
  return { gateway, config, small, engine, stateDirectory };
}

/** Sends one request for each program, some at once. @returns the programs that the candidate answered. */
export async function programsAtCandidate(gateway: TestGateway, programs: readonly string[]): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  const rest = [...programs];
  const send = async (): Promise<void> => {
    for (let program = rest.pop(); program !== undefined; program = rest.pop()) {
      const { status, headers } = await ofProgram(gateway, program);
      expect(status).toBe(200);
      if (headers.get("x-weir-plan") === candidate.planId) taken.add(program);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  return taken;
}

/** Sends one request for each of an unbounded series of new programs until the canary ends. */
export async function untilFailed(gateway: TestGateway, prefix: string): Promise<void> {
  for (let index = 0; (await canaryOf(gateway)).state === "running"; index += 1) await ofProgram(gateway, `${prefix}${index}`);
}

export async function messageOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { message: string } }).error.message;
}

export async function queuedOf({ adminUrl }: TestGateway) {
  return gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).queued;
}
