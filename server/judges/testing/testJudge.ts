import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a judge of a test does with a call; it can be changed while it runs. */
export interface TestJudgeOptions {
  /** Text of its answers. */
  reply?: string;
  /** Status of its answers. */
  status?: number;
  /** Time that an answer takes, by the characters of its message. */
  takesMs?: (characters: number) => number;
  /** It accepts calls and never answers. */
  hangs?: boolean;
  /** Characters of a message above which it refuses it (400). */
  mostCharacters?: number;
  /** It wants this key. */
  key?: string;
}

export interface TestJudge {
  readonly url: string;
  readonly is: TestJudgeOptions;
  /** Calls so far. */
  readonly calls: () => number;
  /** Messages of the calls so far. */
  readonly messages: () => readonly string[];
  close(): Promise<void>;
}

/** A real server on loopback that judges as an OpenAI-compatible endpoint does. */
export async function startTestJudge(is: TestJudgeOptions = {}): Promise<TestJudge> {
  let calls = 0;
  const heard: string[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    calls += 1;
    const { messages = [] } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { messages?: { content: string }[] };
    heard.push(messages[0]?.content ?? "");
    const { reply = "80", status = 200, takesMs = () => 0, hangs = false, mostCharacters = Number.POSITIVE_INFINITY, key } = is;
    if (hangs) return;
    const end = (code: number, body: unknown): void => {
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return end(401, { error: "no key" });
    const characters = messages[0]?.content.length ?? 0;
    if (characters > mostCharacters) return end(400, { error: "too long" });
    const usage = { prompt_tokens: Math.ceil(characters / 4), completion_tokens: 1 };
    setTimeout(() => end(status, { choices: [{ message: { role: "assistant", content: reply } }], usage }), takesMs(characters));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    is,
    calls: () => calls,
    messages: () => heard,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
