import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A proxy in front of emulated engines, run as a separate process: each gets a request a second, so that its counters change, and its text
 * of metrics is extended to the size of a real server's by families that are not read, as real servers have them too. Gets the engines'
 * ports as arguments, prints its own in their order, and ends when its parent closes its standard input.
 */
const families = ["request_prompt_tokens", "request_params_max_tokens", "iteration_tokens_total", "request_params_n"];
const bounds = Array.from({ length: 20 }, (_, at) => 2 ** at);

/** The number of histograms of ours that extends a text to some 22 kB. */
function filling(second: number): string {
  const lines: string[] = [];
  for (const family of families) {
    const name = `vllm:${family}`;
    lines.push(`# HELP ${name} Histogram of ${family.replaceAll("_", " ")} of every request.`, `# TYPE ${name} histogram`);
    const labels = `engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"`;
    for (const bound of bounds) lines.push(`${name}_bucket{${labels},le="${bound}.0"} ${Math.min(second, bound)}.0`);
    lines.push(
      `${name}_bucket{${labels},le="+Inf"} ${second}.0`,
      `${name}_count{${labels}} ${second}.0`,
      `${name}_sum{${labels}} ${second * 7}.0`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const body = (model: string): string => JSON.stringify({ model, messages: [{ role: "user", content: "[prompt p]" }] });

async function standBefore(port: number): Promise<number> {
  const engine = `http://127.0.0.1:${port}`;
  const beganMs = Date.now();
  const server = createServer((_, response) => {
    void fetch(`${engine}/metrics`)
      .then(async (metrics) => {
        response.setHeader("content-type", metrics.headers.get("content-type") ?? "text/plain");
        response.end((await metrics.text()) + filling(Math.floor((Date.now() - beganMs) / 1000)));
      })
      .catch(() => response.destroy());
  });
  const { data } = (await (await fetch(`${engine}/v1/models`)).json()) as { readonly data: readonly { readonly id: string }[] };
  const headers = { "content-type": "application/json" };
  const ask = async () => (await fetch(`${engine}/v1/chat/completions`, { method: "POST", headers, body: body(data[0]?.id ?? "") })).text();
  setInterval(() => void ask().catch(() => undefined), 1000);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

process.stdin.on("end", () => process.exit(0)).resume();
const ports = await Promise.all(process.argv.slice(2).map((port) => standBefore(Number(port))));
process.stdout.write(`ports ${ports.join(",")}\n`);
