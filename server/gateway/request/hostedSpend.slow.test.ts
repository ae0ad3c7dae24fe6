import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { temporaryDirectory, until } from "../testing/testGateway";
import { billedNano, hostedConfig, providerKey, providerKeyVariable } from "../testing/testHosted";
import { startGatewayProcess } from "../testing/testProcesses";
import { startTestProvider } from "../testing/testProvider";

it("finds all money again that was spent before SIGKILL, and spends no more than its budget over several lives", async () => {
  const cap = 0.05;
  const small = await startTestEngine((_, response) => sayCompletion(response, "from the house", "small"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "10", "weir-judge"));
  const provider = await startTestProvider({ kind: "anthropic", delayMs: 20 });
  const stateDirectory = await temporaryDirectory();
  const config = hostedConfig({
    ...{ smallUrl: small.url, judgeUrl: judge.url, providerUrl: provider.url, maxInFlight: 3 },
    terms: { kind: "anthropic", usdPerDay: cap },
  });
  let isFirst = true;
  const storedNano = async (): Promise<number> => {
    const accounts = JSON.parse(await readFile(join(stateDirectory, "hosted-budgets.json"), "utf8"));
    const [{ reserved, windows }] = Object.values(accounts) as [
      { reserved: { nanoUsd: number }; windows: { usdPerDay: { used: number } } },
    ];
    return reserved.nanoUsd + windows.usdPerDay.used;
  };
  for (let life = 0; life < 3; life += 1) {
    const gateway = await startGatewayProcess(stateDirectory, { [providerKeyVariable]: providerKey });
    if (isFirst) {
      const headers = { ...gateway.adminHeaders, "content-type": "application/json", "if-match": "none" };
      const put = await fetch(`${gateway.adminUrl}/config`, { method: "PUT", headers, body: JSON.stringify(config) });
      expect(put.status).toBe(200);
      isFirst = false;
    }
    const body = JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "What is 2 + 2?" }] });
    const ask = () =>
      fetch(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
    const clients = Array.from({ length: 4 }, async () => {
      for (let call = 0; call < 8; call += 1) {
        const answer = await ask().catch(() => null);
        if (answer !== null) await answer.text().catch(() => "");
      }
    });
    const before = provider.calls;
    await until(() => provider.calls >= before + 5);
    await gateway.kill();
    await Promise.all(clients);
    // Every answer that the provider has billed was reserved on disk before it was asked for.
    expect(await storedNano()).toBeGreaterThanOrEqual(billedNano(provider.billed));
  }
  expect(provider.billed.length).toBeGreaterThan(0);
  const last = await startGatewayProcess(stateDirectory, { [providerKeyVariable]: providerKey });
  const body = JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "What is 2 + 2?" }] });
  let skipped: string | null = null;
  for (let call = 0; call < 400 && skipped === null; call += 1) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${last.dataUrl}/v1/chat/completions`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    skipped = answer.headers.get("x-weir-hosted-skipped");
    await answer.text();
  }
  expect(skipped).toBe("far=budget");
  expect(billedNano(provider.billed) / 1e9).toBeLessThanOrEqual(cap);
});
