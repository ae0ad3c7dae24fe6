import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayAuditLine, gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { sayCompletion, startTestEngine } from "./testEngine";
import { hashed, startTestGateway, type TestGateway, testConfig } from "./testGateway";

export const signed = { by: "ada", reason: "fewer escalations" };

export async function twoStages(stateDirectory?: string) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "60"));
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  const gateway = await startTestGateway({}, stateDirectory === undefined ? {} : { stateDirectory });
  const plan = (planId: string, threshold = 70): GatewayConfig => {
    const config = testConfig({ stages, thresholds: [threshold], judgeUrl: judge.url, planId });
    const policy = { ...config.policy, approvedRanges: { thresholds: [{ min: 50, max: 80 }] } } as GatewayConfig["policy"];
    return { ...config, name: planId, ...hashed(policy) };
  };
  return { gateway, plan, large };
}

export const etagOf = async ({ adminUrl }: TestGateway) => (await fetch(`${adminUrl}/config`)).headers.get("etag") ?? "";
export const configOf = async ({ adminUrl }: TestGateway) => (await (await fetch(`${adminUrl}/config`)).json()) as GatewayConfig;
export const statusOf = async ({ adminUrl }: TestGateway) => gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json());
export const auditOf = async ({ adminUrl }: TestGateway): Promise<GatewayAuditLine[]> =>
  gatewayAuditPageSchema.parse(await (await fetch(`${adminUrl}/audit`)).json()).lines;

export async function send(gateway: TestGateway, path: "/knobs" | "/rollback", body: unknown, etag?: string | null) {
  const headers: Record<string, string> = etag === null ? {} : { "if-match": etag ?? (await etagOf(gateway)) };
  const method = path === "/knobs" ? "PATCH" : "POST";
  const answer = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const read = (await answer.json()) as { etag?: string; policyHash?: string; error?: { message: string } };
  return { status: answer.status, message: read.error?.message ?? "", ...read };
}

export const stageOf = async (gateway: TestGateway) => {
  const { headers } = await gateway.chat({ model: "cascade/default" });
  return [headers.get("x-weir-plan"), headers.get("x-weir-policy"), headers.get("x-weir-model")];
};
