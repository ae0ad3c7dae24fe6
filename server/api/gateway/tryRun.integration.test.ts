import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { WorkflowRun } from "@/server/contracts/gateway/workflowRuns";
import { tryRun } from "./tryRun";

async function listening(answer: (asked: IncomingMessage, body: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => answer(request, body, response));
  }).listen(0, "127.0.0.1");
  await new Promise((listens) => server.once("listening", listens));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const completed: WorkflowRun = {
  ...{ id: "r", object: "workflow.run", workflow: "vote", status: "completed", seconds: 1, error: null, output: "42" },
  stages: [{ agent: "one", model: "m", decisionId: "d", seconds: 1, inputTokens: 3, outputTokens: 1, output: "42" }],
};
const failed: WorkflowRun = {
  ...{ ...completed, status: "failed", output: null, stages: [] },
  error: { message: "No engine of m.", code: "no_engine", agent: "one", status: 503 },
};
const asked = { workflow: "vote", input: "What is it?" };
const never = new AbortController().signal;

it("asks as a client does, and gives back the run, one that failed too", async () => {
  const seen: unknown[] = [];
  const url = await listening(({ url: path, method }, body, response) => {
    seen.push([method, path, JSON.parse(body)]);
    response.writeHead(seen.length === 1 ? 200 : 503, { "content-type": "application/json" });
    response.end(JSON.stringify(seen.length === 1 ? completed : failed));
  });
  expect(await tryRun(url, asked, never)).toEqual({ ok: true, run: completed });
  expect(await tryRun(url, asked, never)).toEqual({ ok: true, run: failed });
  expect(seen[0]).toEqual(["POST", "/v1/workflows/vote/runs", { input: "What is it?", stream: false }]);
});

it("asks behind the path of the gateway's address, as behind a proxy", async () => {
  const paths: (string | undefined)[] = [];
  const url = await listening(({ url: path }, _, response) => {
    paths.push(path);
    response.end(JSON.stringify(completed));
  });
  for (const root of [`${url}/team-a`, `${url}/team-a/`]) await tryRun(root, asked, never);
  expect(paths).toEqual(["/team-a/v1/workflows/vote/runs", "/team-a/v1/workflows/vote/runs"]);
});

it("says in a sentence why there was no run: a key, a refusal, something else that answers, nobody", async () => {
  const answers: readonly (readonly [number, string])[] = [
    [401, '{"error":{"message":"no key"}}'],
    [404, '{"error":{"message":"There is no workflow vote: the plan in force has refine."}}'],
    [200, "<html>"],
  ];
  let next = 0;
  const url = await listening((_, __, response) => {
    const [status, text] = answers[next] ?? [500, ""];
    next += 1;
    response.writeHead(status).end(text);
  });
  const said = [];
  for (const _ of answers) said.push(await tryRun(url, asked, never));
  expect(said.map((outcome) => (outcome.ok ? "" : outcome.message))).toEqual([
    `This gateway asks its clients for a key, which the studio has none of: send {"input": ...} to POST ${url}/v1/workflows/vote/runs with yours.`,
    "The gateway did not run vote: There is no workflow vote: the plan in force has refine.",
    "The gateway did not run vote: it answered with status 200",
  ]);
  expect(await tryRun("http://127.0.0.1:9", asked, never)).toMatchObject({
    ok: false,
    message: expect.stringContaining("cannot be asked"),
  });
});

it("gives up with whoever asked, and takes no more of an answer than any run is long", async () => {
  const leaving = new AbortController();
  const url = await listening(() => leaving.abort(new Error("gone")));
  await expect(tryRun(url, asked, leaving.signal)).rejects.toThrow("gone");
  const endless = await listening((_, __, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(1_000_000)));
    };
    response.on("drain", write);
    write();
  });
  expect(await tryRun(endless, asked, never)).toMatchObject({ ok: false, message: expect.stringContaining("longer than 8 MB") });
});
