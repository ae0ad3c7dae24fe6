import { spawn } from "node:child_process";
import { once } from "node:events";

/** An engine in its own process that a test can stop, kill and replace. */
export interface EngineProcess {
  readonly url: string;
  readonly port: number;
  /** Sets its answers from now on. */
  say(change: { readonly version?: string; readonly metrics?: string; readonly started?: number; readonly reset?: true }): Promise<void>;
  /** Stops it like a hung process: its port still accepts connections. */
  hang(): void;
  wake(): void;
  kill(): Promise<void>;
}

const script = `
  let said = JSON.parse(process.argv[1]);
  let counted = 0;
  require("node:http").createServer((request, response) => {
    if (request.method === "PUT") {
      let body = "";
      request.on("data", (part) => { body += part; });
      request.on("end", () => { said = { ...said, ...JSON.parse(body) }; if (said.reset) { counted = 0; delete said.reset; } response.end(); });
    } else if (request.url === "/version") response.end(JSON.stringify({ version: said.version }));
    else if (request.url === "/metrics") {
      counted += 100;
      response.end(said.metrics ?? "process_start_time_seconds " + said.started + "\\nvllm:num_requests_running 1\\n" +
        "vllm:kv_cache_usage_perc 0.5\\nvllm:generation_tokens_total " + counted + "\\n" +
        'vllm:time_to_first_token_seconds_bucket{le="0.5"} ' + counted + '\\nvllm:time_to_first_token_seconds_bucket{le="+Inf"} ' + counted + "\\n");
    } else response.writeHead(404).end();
  }).listen(said.port, "127.0.0.1", function () { console.log(this.address().port); });
`;

/**
 * Starts one whose counts of tokens and requests grow by 100 with each scrape.
 * @param port 0 uses any.
 */
export async function startEngineProcess({ port = 0, version = "0.30.0", started = 1 } = {}): Promise<EngineProcess> {
  const child = spawn(process.execPath, ["-e", script, JSON.stringify({ port, version, started })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${Number(line.toString())}`;
  return {
    url,
    port: Number(line.toString()),
    async say(change) {
      await fetch(url, { method: "PUT", body: JSON.stringify(change) });
    },
    hang: () => void child.kill("SIGSTOP"),
    wake: () => void child.kill("SIGCONT"),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
