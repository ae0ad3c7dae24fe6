import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/**
 * An engine or a judge in its own process: answers health checks, and every request with its name, or, if it has scores, with the score of
 * the model whose answer it is given. A stream is two events of text, the usage and `[DONE]`.
 */
const processCode = `
const { createServer } = require("node:http");
const [name, port, scores] = [process.argv[1], Number(process.argv[2]), JSON.parse(process.argv[3])];
const chunk = (delta, finish_reason = null) =>
  "data: " + JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: name, choices: [{ index: 0, delta, finish_reason }] }) + "\\n\\n";
createServer((request, response) => {
  if (request.method === "GET") return response.writeHead(request.url === "/health" ? 200 : 404).end();
  let body = "";
  request.on("data", (text) => (body += text));
  request.on("end", () => {
    const [, model] = /answer of (\\w+)/.exec(body) ?? [];
    const content = scores === null ? "answer of " + name : String(scores[model] ?? 0);
    if (JSON.parse(body).stream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ role: "assistant", content: "the " }));
      return response.end(chunk({ content }, "stop") + "data: [DONE]\\n\\n");
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({
      id: "c", object: "chat.completion", created: 1, model: name,
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    }));
  });
}).listen(port, "127.0.0.1", function () { process.stdout.write(this.address().port + "\\n"); });
`;

export interface StageProcess {
  readonly url: string;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Stops it without ending its connections, or resumes it. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Starts it again at the same address, unless it runs. */
  revive(): Promise<void>;
}

/**
 * Starts one.
 * @param scores of the answers of each model, for a judge; null for an engine.
 * @param atEnd gets what kills it; left out: it is killed when the test ends.
 */
export async function startStageProcess(
  name: string,
  scores: Readonly<Record<string, number>> | null = null,
  atEnd: (kill: () => Promise<void>) => void = onTestFinished,
): Promise<StageProcess> {
  let child: ChildProcess | null = null;
  let port = 0;
  const runs = (): boolean => child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const revive = async (): Promise<void> => {
    if (runs()) return;
    const started = spawn(process.execPath, ["-e", processCode, name, String(port), JSON.stringify(scores)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child = started;
    const [line] = (await once(createInterface(started.stdout), "line")) as [string];
    port = Number(line);
  };
  const kill = async (): Promise<void> => {
    if (child === null || !runs()) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  atEnd(kill);
  await revive();
  return {
    url: `http://127.0.0.1:${port}`,
    kill,
    revive,
    signal: (signal) => {
      child?.kill(signal);
    },
  };
}
