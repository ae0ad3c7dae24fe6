import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** The programs in tests' containers, by image. */
export const testImages = {
  /** Loads for a moment, then serves the model in its flags. */
  serving: "weir.test/engine:1",
  /** Ends with exit code 3 at once. */
  crashing: "weir.test/crash:1",
  /** Exists in no registry. */
  missing: "weir.test/nowhere:1",
} as const;

const script = `
  const [model, port, loadMs] = process.argv.slice(1);
  const ready = Date.now() + Number(loadMs);
  require("node:http").createServer((request, response) => {
    if (Date.now() < ready) return void response.writeHead(503).end();
    const json = (body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/health") return void response.end();
    if (request.url === "/v1/models") return void json({ object: "list", data: [{ id: model, object: "model" }] });
    if (request.url === "/metrics") return void response.end("vllm:num_requests_running 0\\n");
    request.resume().on("end", () => json({
      id: "1", object: "chat.completion", created: 1, model,
      choices: [{ index: 0, message: { role: "assistant", content: "one" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    }));
  }).listen(Number(port), "127.0.0.1");
`;

export interface ContainerProcess {
  /** null while it runs. */
  exitCode(): number | null;
  end(): Promise<void>;
}

/** Runs a container's command as its image allows: the served model is in its flags. */
export function startContainer({ image, command, port }: { image: string; command: readonly string[]; port: number }): ContainerProcess {
  const model = command[command.indexOf("--served-model-name") + 1] ?? "";
  const args = image === testImages.crashing ? ["-e", "process.exit(3)"] : ["-e", script, model, String(port), "300"];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: "ignore" });
  return {
    exitCode: () => child.exitCode,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
