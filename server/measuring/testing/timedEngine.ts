import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** How a test's engine works: milliseconds of a step, for each sequence in it and each prompt token; sequences at once. */
export interface EngineManners {
  readonly stepMs: number;
  readonly msPerSequence: number;
  readonly msPerPromptToken: number;
  readonly maxSequences: number;
  /** Whether it takes token ids as prompts. */
  readonly takesIds: boolean;
  /** Requests of others that it counts as answered each second. */
  readonly othersPerSecond: number;
  readonly hasMetrics: boolean;
  readonly countsTokens: boolean;
  /** Whether answers have the length that is asked for; else any up to it. */
  readonly keepsLengths: boolean;
}

const usual: EngineManners = {
  ...{ stepMs: 2, msPerSequence: 0.3, msPerPromptToken: 0.02, maxSequences: 4 },
  ...{ takesIds: true, othersPerSecond: 0, hasMetrics: true, countsTokens: true, keepsLengths: true },
};

interface Sequence {
  readonly response: ServerResponse;
  readonly inputTokens: number;
  left: number;
  readonly outputTokens: number;
}

/** An engine with vLLM's metrics and stream, whose steps take wall time: batches continuously, whole prompts in a step. */
export async function startTimedEngine(change: Partial<EngineManners> = {}) {
  const manners = { ...usual, ...change };
  const waiting: Sequence[] = [];
  const running: Sequence[] = [];
  const startedMs = performance.now();
  let received = 0;
  let answered = 0;
  let busy = false;

  async function work(): Promise<void> {
    if (busy) return;
    busy = true;
    while (waiting.length + running.length > 0) {
      const admitted = waiting.splice(0, manners.maxSequences - running.length);
      running.push(...admitted);
      const prompts = admitted.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
      await pause(manners.stepMs + manners.msPerSequence * running.length + manners.msPerPromptToken * prompts);
      for (const sequence of [...running]) {
        sequence.left -= 1;
        sequence.response.write(`data: {"choices":[{"text":"x"}]}\n\n`);
        if (sequence.left > 0 && !sequence.response.destroyed) continue;
        running.splice(running.indexOf(sequence), 1);
        answered += 1;
        const usage = { prompt_tokens: sequence.inputTokens, completion_tokens: sequence.outputTokens };
        const counted = manners.countsTokens ? `data: ${JSON.stringify({ choices: [], usage })}\n\n` : "";
        sequence.response.end(`${counted}data: [DONE]\n\n`);
      }
    }
    busy = false;
  }

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as { prompt: string | number[]; max_tokens: number };
    received += 1;
    if (typeof body.prompt !== "string" && !manners.takesIds) {
      response.writeHead(400).end('{"error":{"message":"prompt must be a text"}}');
      return;
    }
    const inputTokens = typeof body.prompt === "string" ? 3 + 2 * body.prompt.split(" ").length : body.prompt.length;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const outputTokens = manners.keepsLengths ? body.max_tokens : 1 + ((5 * received) % body.max_tokens);
    waiting.push({ response, inputTokens, left: outputTokens, outputTokens });
    void work();
  }

  const metrics = (): string => {
    const others = Math.floor((manners.othersPerSecond * (performance.now() - startedMs)) / 1000);
    return [
      `vllm:num_requests_running{engine="0",model_name="m"} ${running.length}`,
      `vllm:num_requests_waiting{engine="0",model_name="m"} ${waiting.length}`,
      'vllm:cache_config_info{block_size="16",num_gpu_blocks="1000",engine="0"} 1',
      'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0',
      `vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} ${answered + others}`,
      "",
    ].join("\n");
  };

  const server = createServer((request, response) => {
    if (request.url === "/v1/completions") void complete(request, response);
    else if (request.url === "/metrics" && manners.hasMetrics) response.end(metrics());
    else if (request.url === "/version") response.end('{"version":"0.32.0"}');
    else if (request.url === "/v1/models") response.end('{"data":[{"id":"qwen2.5-7b","root":"qwen2.5-7b","max_model_len":256}]}');
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (): number => received,
    close: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
}
