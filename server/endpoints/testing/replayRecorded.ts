import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import { listen } from "./testEndpoints";

const folder = join(import.meta.dirname, "../../engines/testing/recorded");

const exchangeSchema = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() });
const recordingSchema = z.record(z.string(), z.record(z.string(), exchangeSchema));

/** What an engine answered, by state of the engine and by request, as `scripts/recordEngine.mjs` wrote it. */
export const readRecording = (file: string) => recordingSchema.parse(JSON.parse(readFileSync(join(folder, file), "utf8")));

/** A server that answers GETs as the recorded engine did in a state; its POSTs get the recorded answer of that name. */
export async function replayRecorded(file: string, scene: string, post = "chat") {
  const answers = readRecording(file)[scene];
  if (answers === undefined) throw new Error(`${file} has no "${scene}"`);
  const server = createServer((request, response) => {
    const found = answers[request.method === "GET" ? `GET ${request.url}` : `POST ${request.url} (${post})`];
    if (found === undefined) return response.writeHead(404).end();
    request.resume();
    response.writeHead(found.status, found.headers).end(found.body);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return { url, close: () => new Promise<void>((resolve) => server.close(() => resolve())).finally(() => server.closeAllConnections()) };
}
