import { type IncomingMessage, request } from "node:http";
import type { RecordedExchange } from "@/server/engines/testing/recordedEngine";

/** A request to record. */
export interface Question {
  readonly name: string;
  readonly path: string;
  /** POSTed; a text is sent as it is. Absent: a GET. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client leaves after that many pieces of the answer. */
  readonly leaveAfter?: number;
}

/** An answer that takes longer is not worth recording. */
const LIMIT_MS = 300_000;

/**
 * Sends one request and keeps the answer piece by piece.
 * @throws if the engine cannot be reached or does not answer in five minutes.
 */
export function recordExchange(url: string, question: Question): Promise<RecordedExchange> {
  const { name, path, body, leaveAfter } = question;
  const text = body === undefined || typeof body === "string" ? (body ?? null) : JSON.stringify(body);
  const headers = { ...(text === null ? {} : { "content-type": "application/json" }), ...question.headers };
  const method = text === null ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const sentMs = performance.now();
    const sent = request(url + path, { method, headers, agent: false, timeout: LIMIT_MS }, (response: IncomingMessage) => {
      const chunks: [number, string][] = [];
      const end = (cut: boolean): void =>
        resolve({
          name,
          request: { method, path, headers, body: text },
          response: { status: response.statusCode ?? 0, headers: plainHeaders(response), chunks, cut },
        });
      response.on("data", (chunk: Buffer) => {
        chunks.push([Math.round((performance.now() - sentMs) * 10) / 10, chunk.toString("utf8")]);
        if (chunks.length !== leaveAfter) return;
        end(true);
        response.destroy();
      });
      response.on("end", () => end(false));
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`${name}: no answer in ${LIMIT_MS / 1000} s`)));
    sent.on("error", reject);
    sent.end(text ?? undefined);
  });
}

const plainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
