import { connect } from "node:net";
import { Readable } from "node:stream";
import { Agent } from "undici";

/** What became of a request in its client's eyes. `failed`: it was told so in clear words; `lost`: it was not, and did not leave. */
export type Outcome = "answered" | "shed" | "failed" | "left" | "lost";

export interface Reply {
  readonly outcome: Outcome;
  /** 0 where no status came. */
  readonly status: number;
  /** Under which the gateway keeps its record; null where the client was not told. */
  readonly decisionId: string | null;
  /** What came instead of an answer; empty where one came. */
  readonly said: string;
}

export interface Chat {
  readonly model: string;
  readonly prompt: string;
  readonly stream: boolean;
  readonly streaming: "buffer" | "last";
  /** When the client goes away if it is not answered by then; null: it stays. */
  readonly leaveAfterMs: number | null;
}

const chatPath = "/v1/chat/completions";
const tooLargeBytes = 10 * 1024 * 1024;
/** Between two bytes of a slow sender. */
const dribbleMs = 100;

/** Clients of one gateway; each request has a connection of its own while it is under way. */
export class Clients {
  readonly #url: URL;
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Asks for a completion and reads it to its end, or leaves. */
  async chat({ model, prompt, stream, streaming, leaveAfterMs }: Chat): Promise<Reply> {
    const leaving = new AbortController();
    const timer = leaveAfterMs === null ? undefined : setTimeout(() => leaving.abort(), leaveAfterMs);
    const body = JSON.stringify({ model, stream, max_tokens: 40, messages: [{ role: "user", content: prompt }] });
    const heard: { decisionId: string | null } = { decisionId: null };
    try {
      const answer = await this.#agent.request({
        origin: this.#url.origin,
        method: "POST",
        path: chatPath,
        headers: { "content-type": "application/json", "x-weir-stream": streaming },
        body,
        signal: leaving.signal,
      });
      heard.decisionId = String(answer.headers["x-weir-decision-id"] ?? "") || null;
      const text = await answer.body.text();
      return { ...heard, status: answer.statusCode, ...reading(answer.statusCode, text, stream) };
    } catch (error) {
      return leaving.signal.aborted
        ? { ...heard, status: 0, outcome: "left", said: "" }
        : { ...heard, status: 0, outcome: "lost", said: String(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a body of 10 MB, with its length said before or in chunks. */
  async tooLarge(chunked: boolean): Promise<Reply> {
    const bytes = Buffer.alloc(tooLargeBytes, " ");
    try {
      const answer = await this.#agent.request({
        origin: this.#url.origin,
        method: "POST",
        path: chatPath,
        headers: { "content-type": "application/json" },
        body: chunked ? Readable.from([bytes.subarray(0, tooLargeBytes / 2), bytes.subarray(tooLargeBytes / 2)]) : bytes,
      });
      const text = await answer.body.text();
      return { decisionId: null, status: answer.statusCode, ...reading(answer.statusCode, text, false) };
    } catch (error) {
      return { decisionId: null, status: 0, outcome: "lost", said: String(error) };
    }
  }

  /** Sends a request byte by byte and never to its end: its head, or its body. */
  slow(part: "head" | "body"): Promise<Reply> {
    const head = `POST ${chatPath} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n`;
    return new Promise((resolve) => {
      const socket = connect(Number(this.#url.port), this.#url.hostname);
      let text = "";
      socket.write(part === "head" ? head : `${head}content-length: 100000\r\n\r\n{`);
      const timer = setInterval(() => socket.write(part === "head" ? "x" : " "), dribbleMs);
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
        if (/"message":"[^"]+/.test(text)) end({ status, decisionId: null, outcome: "failed", said: text });
      });
      const end = (reply: Reply): void => {
        clearInterval(timer);
        socket.destroy();
        resolve(reply);
      };
      socket.on("error", () => undefined);
      socket.on("close", () =>
        end({ status: 0, decisionId: null, outcome: "lost", said: `a slow ${part}: ${text || "the connection was closed"}` }),
      );
    });
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function reading(status: number, text: string, stream: boolean): Pick<Reply, "outcome" | "said"> {
  if (status !== 200) {
    if (!saysWhy(text)) return { outcome: "lost", said: text };
    return { outcome: status === 429 ? "shed" : "failed", said: text };
  }
  const whole = stream ? text.endsWith("data: [DONE]\n\n") : text.includes('"choices"');
  if (whole) return { outcome: "answered", said: "" };
  return { outcome: /data: \{"error":\{"message":"[^"]+/.test(text) ? "failed" : "lost", said: text.slice(-300) };
}

function saysWhy(text: string): boolean {
  try {
    return Boolean((JSON.parse(text) as { error?: { message?: string } }).error?.message);
  } catch {
    return false;
  }
}
