import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine, type TestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, type TestGateway, temporaryDirectory } from "../testing/testGateway";

const key = { environment: "WEIR_ENGINE_A" };
beforeEach(() => {
  vi.stubEnv("WEIR_ENGINE_A", "sk-a");
  vi.stubEnv("WEIR_JUDGE_A", "sk-judge");
});
afterEach(() => void vi.unstubAllEnvs());

const engineAt = (url: string): GatewayConfig => {
  const config = oneModel([url]);
  return { ...config, replicas: config.replicas.map((replica) => ({ ...replica, key })) };
};
const judgedAt = (url: string, judge: string): GatewayConfig => ({
  ...oneModel([url]),
  judge: { model: "outside", url: judge, keyFromEnvironment: "WEIR_JUDGE_A" },
});

const started = () => startTestEngine((_, response) => sayCompletion(response, "4"));
const ask = (gateway: TestGateway) =>
  gateway.post("/v1/chat/completions", { model: "large", messages: [{ role: "user", content: "?" }] }).then(({ status }) => status);
const keysAt = ({ asked }: TestEngine): readonly unknown[] => asked.map(({ headers }) => headers.authorization);

/** Puts a configuration; empty, or why it was refused. */
const refusalOf = (gateway: TestGateway, config: GatewayConfig): Promise<string> =>
  gateway.put(config).then(
    () => "",
    (error: Error) => error.message,
  );

describe("the key of an engine", () => {
  it("is not sent to another address by a configuration that names it there", async () => {
    const [engine, evil, gateway] = [await started(), await started(), await startTestGateway()];
    await gateway.put(engineAt(engine.url));
    expect(await ask(gateway)).toBe(200);
    const refusal = await refusalOf(gateway, engineAt(evil.url));
    await ask(gateway);
    expect(keysAt(evil)).toEqual([]);
    expect(refusal).toContain(`The key WEIR_ENGINE_A was entered for ${engine.url} and is not sent to ${evil.url}: to allow that, add`);
    expect(keysAt(engine)).toEqual(["Bearer sk-a", "Bearer sk-a"]);
  });

  it("is not sent to another address that a judge is said to have, and a judge's key neither", async () => {
    const [engine, judge, evil, gateway] = [await started(), await started(), await started(), await startTestGateway()];
    await gateway.put(judgedAt(engine.url, judge.url));
    expect(await refusalOf(gateway, judgedAt(engine.url, evil.url))).toContain("The key WEIR_JUDGE_A was entered for");
  });

  it("is sent to several addresses where one configuration enters it for them, and to one more once its file allows that", async () => {
    const [one, two, three, gateway] = [await started(), await started(), await started(), await startTestGateway()];
    const both = oneModel([one.url, two.url]);
    await gateway.put({ ...both, replicas: both.replicas.map((replica) => ({ ...replica, key })) });
    expect(await refusalOf(gateway, engineAt(three.url))).not.toBe("");
    const file = join(gateway.stateDirectory, "gateway-secret-origins.json");
    writeFileSync(file, JSON.stringify({ version: 1, secrets: { [key.environment]: [one.url, two.url, three.url] } }));
    await vi.waitFor(async () => expect(await refusalOf(gateway, engineAt(three.url))).toBe(""), { timeout: 5_000, interval: 200 });
    expect(await ask(gateway)).toBe(200);
    expect(keysAt(three)).toEqual(["Bearer sk-a"]);
  });

  it("is still sent by a gateway that was started before secrets had origins", async () => {
    const [engine, before] = [await started(), await startTestGateway()];
    await before.put(engineAt(engine.url));
    await before.close();
    rmSync(join(before.stateDirectory, "gateway-secret-origins.json"));
    const after = await startTestGateway({}, { stateDirectory: before.stateDirectory });
    expect(await ask(after)).toBe(200);
    expect(keysAt(engine)).toEqual(["Bearer sk-a"]);
  });

  it("beside a studio is sent only where the studio's file says so", async () => {
    const [engine, folder] = [await started(), await temporaryDirectory()];
    const secretOriginsFile = join(folder, "secret-origins.json");
    const gateway = await startTestGateway({}, { secretOriginsFile });
    expect(await refusalOf(gateway, engineAt(engine.url))).toContain("was entered for no address yet");
    writeFileSync(secretOriginsFile, JSON.stringify({ version: 1, secrets: { [key.environment]: [engine.url] } }));
    await vi.waitFor(async () => expect(await refusalOf(gateway, engineAt(engine.url))).toBe(""), { timeout: 5_000, interval: 200 });
    expect(await ask(gateway)).toBe(200);
  });
});
