import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, it } from "vitest";
import type { Decision, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKeys, GatewayUsage } from "@/server/contracts/gateway/gatewayKeys";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, temporaryDirectory, until } from "../testing/testGateway";
import { startGatewayParent } from "../testing/testProcesses";

const messages = [{ role: "user" as const, content: "Is it?" }];
const tokensPerRequest = 10;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An engine that streams a part every 100 ms until `end` is called. */
async function endlessStreams() {
  let isEnded = false;
  const engine = await startTestEngine(async ({ body }, response) => {
    if (body.stream !== true) return setTimeout(() => sayCompletion(response, "4"), 5);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let part = 0; !isEnded; part += 1) {
      response.write(streamEvent({ content: `${part} ` }));
      await pause(100);
    }
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    response.write(streamEvent({ content: "end" }, "stop"));
    return response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  });
  return {
    url: engine.url,
    end: () => {
      isEnded = true;
    },
  };
}

it("a gateway restarts under load: no request fails, no connection is refused, streams end as they began, and every use is counted", async () => {
  const engine = await endlessStreams();
  const stateDirectory = await temporaryDirectory();
  const { dataUrl, adminUrl, adminHeaders, child } = await startGatewayParent(stateDirectory);
  const read = async (path: string): Promise<unknown> => (await fetch(`${adminUrl}${path}`, { headers: adminHeaders })).json();
  const keys = [{ name: "app", sha256: createHash("sha256").update("app").digest("hex"), limits: { tokensPerDay: 1e9 } }];
  const put = await fetch(`${adminUrl}/config`, {
    method: "PUT",
    headers: { ...adminHeaders, "content-type": "application/json", "if-match": "none" },
    body: JSON.stringify({ ...oneModel([engine.url], 64), settings: { keys } }),
  });
  expect(put.status).toBe(200);

  const client = new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "app", maxRetries: 0 });
  const failures: unknown[] = [];
  let asked = 0;
  let isOver = false;
  const loop = (ask: () => Promise<unknown>) => async (): Promise<void> => {
    while (!isOver) {
      asked += 1;
      await ask().catch((error) => failures.push(error));
    }
  };
  const kept = loop(() => client.chat.completions.create({ model: "large", messages }));
  // Each of these requests opens a connection of its own.
  const fresh = loop(() => freshRequest(`${dataUrl}/v1/chat/completions`));
  const stream = async (): Promise<string> => {
    asked += 1;
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model: "large", messages, stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    return text;
  };
  const streams = [stream(), stream(), stream()];
  const clients = [...Array.from({ length: 6 }, kept), ...Array.from({ length: 4 }, fresh)];
  let restarts = 0;
  child.stdout?.on("data", (text: Buffer) => {
    restarts += text.toString().split("another process serves").length - 1;
  });
  await pause(500);
  for (const restart of [1, 2]) {
    child.kill("SIGHUP");
    await until(() => restarts === restart);
    await pause(500);
  }
  engine.end();
  for (const text of await Promise.all(streams)) {
    const parts = text.split(" ");
    expect(parts).toEqual([...Array.from({ length: parts.length - 1 }, (_, part) => String(part)), "end"]);
    expect(parts.length).toBeGreaterThan(10);
  }
  isOver = true;
  await Promise.all(clients);
  console.info(`two restarts under load: ${asked} requests, ${failures.length} failed or refused`);
  expect(failures).toEqual([]);
  expect(asked).toBeGreaterThan(200);

  const use = async () => ((await read("/keys")) as GatewayKeys).keys?.[0]?.use?.[0];
  await expect.poll(use, { timeout: 10_000 }).toMatchObject({ used: asked * tokensPerRequest, reserved: 0 });
  const usage = (await read("/usage")) as GatewayUsage;
  expect(usage.rows.reduce((all, { requests }) => all + requests, 0)).toBe(asked);
  // The records of the streams, which ended in the first process, are in the last.
  const { decisions } = (await read("/decisions")) as { decisions: Decision[] };
  expect(decisions.filter(({ endToEndSeconds }) => endToEndSeconds > 2)).toHaveLength(3);

  const status = (await read("/status")) as GatewayStatus;
  expect(status.configEtag).not.toBeNull();
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(JSON.parse(await readFile(join(stateDirectory, "key-budgets.json"), "utf8"))).toBeTruthy();
});

const noKeepAlive = new Agent({ keepAlive: false });

/** One request over a connection of its own. */
function freshRequest(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", authorization: "Bearer app" };
    const request = httpRequest(url, { method: "POST", headers, agent: noKeepAlive }, (response) => {
      response.resume();
      response.once("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))));
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(JSON.stringify({ model: "large", messages }));
  });
}
