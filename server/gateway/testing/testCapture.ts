import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import {
  type CaptureRequest,
  type Capture as CaptureSummary,
  capturePageSchema,
  captureSchema,
} from "@/server/contracts/gateway/gatewayControls";
import { builtInNames } from "@/solver/redaction/builtInRedactions";
import { sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, type TestGateway, testConfig, until } from "./testGateway";
import { control } from "./testScoredCascade";

const digest = (key: string): string => createHash("sha256").update(key).digest("hex");

/** Keys `ann` and `bob` (of class `batch`), whose secrets are `ann-key` and `bob-key`. */
export const keys: NonNullable<GatewaySettings["keys"]> = [
  { name: "ann", sha256: digest("ann-key") },
  { name: "bob", sha256: digest("bob-key"), objective: "batch" },
];

export const keyed: GatewaySettings = { keys, priorityClasses: [{ name: "batch", queueFraction: 1 }] };

const everything: CaptureRequest = {
  share: 1,
  keys: ["ann"],
  redactions: { builtIn: builtInNames, own: [] },
  retentionDays: 30,
  mostBytes: 10_000_000,
  by: "ann",
  reason: "a sample",
};

/** A gateway with two keys before an engine that says hello. */
export async function keyedGateway(settings: GatewaySettings = keyed, given: Parameters<typeof startTestGateway>[1] = {}) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "hello"));
  const gateway = await startTestGateway({}, given);
  const config = testConfig({ stages: [{ model: "large", urls: [engine.url] }], settings });
  await gateway.put(config);
  return { engine, gateway, config };
}

export async function putCapture(gateway: TestGateway, given: Partial<CaptureRequest> = {}): Promise<CaptureSummary> {
  const { status, document } = await control(gateway, "PUT", "/capture", { ...everything, ...given });
  expect([status, document]).toMatchObject([200, {}]);
  return captureSchema.parse(document);
}

export const readCapture = async (gateway: TestGateway): Promise<CaptureSummary> =>
  captureSchema.parse((await control(gateway, "GET", "/capture")).document);

/** Sends a request under a key, with a text or a whole body; the answer is read. */
export async function askAs(gateway: TestGateway, key: string | null, body: string | Record<string, unknown>): Promise<number> {
  const headers = { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}-key` }) };
  const whole = typeof body === "string" ? { messages: [{ role: "user", content: body }] } : body;
  const answer = await gateway.chat(whole, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

/** The capture's state once `dealtWith` prompts of the share were processed. */
export async function settledCapture(gateway: TestGateway, dealtWith: number): Promise<CaptureSummary> {
  const total = ({ counts: { kept, dropped } }: CaptureSummary): number => Object.values(dropped).reduce((sum, count) => sum + count, kept);
  await until(async () => total(await readCapture(gateway)) >= dealtWith);
  return readCapture(gateway);
}

/** Every line, page by page. */
export async function capturedLines(gateway: TestGateway): Promise<readonly Record<string, unknown>[]> {
  const lines: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page = capturePageSchema.parse((await control(gateway, "GET", `/captures?after=${encodeURIComponent(after)}`)).document);
    lines.push(...page.lines);
    after = page.next;
  }
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
