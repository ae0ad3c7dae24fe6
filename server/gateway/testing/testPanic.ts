import type { GatewayControls } from "@/server/contracts/gateway/gatewayControls";
import { sayCompletion, startTestEngine } from "./testEngine";
import { type TestGateway, testConfig } from "./testGateway";

export const signed = { by: "ada", reason: "node b1 burns" };
export const panic = ({ adminUrl }: TestGateway, body: unknown) =>
  fetch(`${adminUrl}/panic`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
export const lift = ({ adminUrl }: TestGateway) =>
  fetch(`${adminUrl}/panic`, { method: "DELETE", headers: { "content-type": "application/json" }, body: JSON.stringify(signed) });
export const said = async (answer: Promise<Response> | Response) => {
  const { status, headers } = await answer;
  return [status, headers.get("x-weir-model"), headers.get("x-weir-policy")];
};

export async function threeModels() {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const middle = await startTestEngine((_, response) => sayCompletion(response, "middle"));
  const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "middle", urls: [middle.url] },
    { model: "large", urls: [large.url] },
  ];
  return { small, middle, large, config: testConfig({ stages, thresholds: [50, 50], judgeUrl: judge.url }) };
}

export async function statusOf({ adminUrl }: TestGateway) {
  return (await (await fetch(`${adminUrl}/status`)).json()) as {
    queued: Record<string, number>;
    controls: GatewayControls;
    lastAudit: number;
  };
}
