import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A chat request as it came. */
export interface HeardRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly logprobs?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** What a server says to a request; the prompt's tokens are the characters of its messages. */
export type Said =
  | {
      readonly text: string;
      readonly outputTokens?: number;
      readonly usage?: false;
      readonly delayMs?: number;
      /** Between the first token of a stream and the others. */
      readonly decodeMs?: number;
      readonly finish?: "length";
      /** Of each token, a character; left out: log probabilities are not reported. */
      readonly probability?: number;
    }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string }
  /** Closes the connection. */
  | "reset"
  /** Begins an answer and breaks off. */
  | "torn"
  | "silence";

/** A real server that answers chat requests as a test specifies, on its own port, which it keeps while it is down. */
export async function testModels(say: (request: HeardRequest, count: number) => Said) {
  const heard: { readonly request: HeardRequest; readonly atMs: number }[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (message.method === "GET") return void response.end("ok");
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const request = JSON.parse(Buffer.concat(chunks).toString()) as HeardRequest;
    heard.push({ request, atMs: performance.now() });
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    response.on("close", () => {
      inFlight -= 1;
    });
    const said = say(request, heard.length);
    if (said === "reset") return void message.socket.destroy();
    if (said === "silence") return;
    if (said === "torn") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(event({ content: "half an" }), () => message.socket.destroy());
      return;
    }
    if ("status" in said) {
      response.writeHead(said.status, { ...said.headers }).end(said.text ?? "");
      return;
    }
    await new Promise((wake) => setTimeout(wake, said.delayMs ?? 1));
    const used = said.usage === false ? undefined : usageOf(request, said.outputTokens ?? said.text.length);
    const { probability } = said;
    const tokens = (text: string): object | undefined =>
      request.logprobs && probability !== undefined
        ? { content: [...text].map((token) => ({ token, logprob: Math.log(probability), bytes: null, top_logprobs: [] })) }
        : undefined;
    if (request.stream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const finish = said.finish === undefined ? "" : event({}, said.finish);
      const last = finish + (used === undefined ? "" : `data: ${JSON.stringify({ choices: [], usage: used })}\n\n`);
      const [first = "", ...others] = [...said.text].map((content) => event({ content }, null, tokens(content)));
      response.write(first);
      if (said.decodeMs !== undefined) await new Promise((wake) => setTimeout(wake, said.decodeMs));
      response.end(`${others.join("")}${last}data: [DONE]\n\n`);
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          choices: [{ message: { role: "assistant", content: said.text }, finish_reason: said.finish, logprobs: tokens(said.text) }],
          usage: used,
        }),
      );
    }
  };
  const server = createServer((message, response) => void answer(message, response).catch(() => response.destroy()));
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const down = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    mostInFlight: () => mostInFlight,
    down,
    up: () => listen(port),
    close: () => (server.listening ? down() : Promise.resolve()),
  };
}

const event = (delta: object, finish_reason: string | null = null, logprobs?: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason, logprobs }] })}\n\n`;

const usageOf = ({ messages }: HeardRequest, outputTokens: number) => ({
  prompt_tokens: messages.reduce((sum, { content }) => sum + content.length, 0),
  completion_tokens: outputTokens,
});
