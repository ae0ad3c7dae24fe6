import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

/** A request's outcome for its client. `failed`: the answer reports it; `lost`: no answer reports it, and the client did not leave. */
export type Outcome = "answered" | "shed" | "failed" | "left" | "lost";

export interface Reply {
  readonly outcome: Outcome;
  /** 0 where no status was received. */
  readonly status: number;
  /** Id of the gateway's record; null where the client received none. */
  readonly decisionId: string | null;
  /** What was received instead of an answer; empty where one was received. */
  readonly said: string;
  /** The body of an answer; empty where none was received. */
  readonly text: string;
}

export interface Chat {
  readonly model: string;
  readonly prompt: string;
  readonly stream: boolean;
  readonly streaming: "buffer" | "last";
  /** Maximum length of the answer; null: unlimited. */
  readonly mostTokens: number | null;
  /** Left out: the engine's own. */
  readonly temperature?: number;
  /** Time after which the client leaves if it is not answered by then; null: it stays. */
  readonly leaveAfterMs: number | null;
}

interface Asking extends Pick<Chat, "stream" | "leaveAfterMs"> {
  readonly headers: OutgoingHttpHeaders;
  readonly pieces: readonly (string | Buffer)[];
}

const chatPath = "/v1/chat/completions";
const tooLargeBytes = 10 * 1024 * 1024;
/** Between two bytes of a slow sender. */
const dribbleMs = 100;

/** Clients of one gateway; each request has its own connection while it is in flight. */
export class Clients {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Requests a completion and reads it to its end, or leaves. */
  chat({ model, prompt, stream, streaming, mostTokens, temperature, leaveAfterMs }: Chat): Promise<Reply> {
    const length = mostTokens === null ? {} : { max_tokens: mostTokens };
    const body = JSON.stringify({ model, stream, ...length, temperature, messages: [{ role: "user", content: prompt }] });
    const headers = { "x-weir-stream": streaming, "content-length": Buffer.byteLength(body) };
    return this.#ask({ stream, leaveAfterMs, headers, pieces: [body] });
  }

  /** Sends a body of 10 MB, with its length declared before or in chunks. */
  tooLarge(chunked: boolean): Promise<Reply> {
    const half = Buffer.alloc(tooLargeBytes / 2, " ");
    const headers = chunked ? {} : { "content-length": tooLargeBytes };
    return this.#ask({ stream: false, leaveAfterMs: null, headers, pieces: [half, half] });
  }

  #ask({ stream, leaveAfterMs, headers, pieces }: Asking): Promise<Reply> {
    return new Promise((resolve) => {
      const { hostname, port } = this.#url;
      const options = { method: "POST", path: chatPath, agent: this.#agent, headers: { "content-type": "application/json", ...headers } };
      const heard = { status: 0, decisionId: null as string | null, text: "" };
      const end = (reply: Pick<Reply, "outcome" | "said">): void => {
        clearTimeout(timer);
        resolve({ ...heard, ...reply });
      };
      const asking = request({ hostname, port, ...options }, (answer) => {
        heard.status = answer.statusCode ?? 0;
        heard.decisionId = String(answer.headers["x-weir-decision-id"] ?? "") || null;
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (piece: string) => {
          text += piece;
        });
        answer.on("end", () => {
          const read = reading(heard.status, text, stream);
          if (read.outcome === "answered") heard.text = text;
          end(read);
        });
        answer.on("error", (error) => end({ outcome: "lost", said: String(error) }));
      });
      // After an answer that arrived before the body was sent, the rest of it may fail.
      asking.on("error", (error) => heard.status === 0 && end({ outcome: "lost", said: String(error) }));
      const leave = (): void => {
        end({ outcome: "left", said: "" });
        asking.destroy();
      };
      const timer = leaveAfterMs === null ? undefined : setTimeout(leave, leaveAfterMs);
      for (const piece of pieces) asking.write(piece);
      asking.end();
    });
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
        if (/"message":"[^"]+/.test(text)) end({ status, decisionId: null, outcome: "failed", said: text, text: "" });
      });
      const end = (reply: Reply): void => {
        clearInterval(timer);
        socket.destroy();
        resolve(reply);
      };
      socket.on("error", () => undefined);
      socket.on("close", () =>
        end({ status: 0, decisionId: null, outcome: "lost", said: `a slow ${part}: ${text || "the connection was closed"}`, text: "" }),
      );
    });
  }

  /** Cuts every connection. */
  close(): void {
    this.#agent.destroy();
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
