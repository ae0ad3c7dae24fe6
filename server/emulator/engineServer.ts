import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type ApiError, fenced, notFound, pathOf, readJson, sendError, sendJson } from "@/server/contracts/http/apiServer";
import { type ChatRequest, parseChatRequest } from "./chatRequest";

/** The version that an emulated engine reports: the newest vLLM whose metric names it follows, marked as emulated. */
const EMULATED_VERSION = "0.30.0+emulated";

/** vLLM has no limit; this one has room for a prompt of some million tokens and bounds memory. */
const MAX_BODY_BYTES = 32_000_000;

/** The backend of one engine port. */
export interface EngineBackend {
  /** Its served names: one model for an engine, two names for the judge's server. */
  readonly models: readonly string[];
  /** Why it takes no requests now; null if it does. */
  unavailable(): string | null;
  maxModelTokens(): number;
  chat(response: ServerResponse, request: ChatRequest): void;
  metricsText(): Promise<string>;
}

/** An HTTP server with the part of vLLM's API that a gateway and a scraper use. It does not listen yet. */
export function createEngineServer(backend: EngineBackend): Server {
  const startedSeconds = Math.floor(Date.now() / 1000);
  const onRequest = fenced((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // Only a client that disconnected while it was sending causes this.
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  return createServer(onRequest);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (`${request.method} ${pathOf(request)}`) {
      case "GET /health":
        response.writeHead(backend.unavailable() === null ? 200 : 503).end();
        return;
      case "GET /version":
        sendJson(response, 200, { version: EMULATED_VERSION });
        return;
      case "GET /v1/models":
        sendJson(response, 200, { object: "list", data: backend.models.map((model) => modelEntry(model, backend, startedSeconds)) });
        return;
      case "GET /metrics":
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(await backend.metricsText());
        return;
      case "POST /v1/chat/completions":
        await chat(request, response);
        return;
      default:
        request.resume();
        sendError(response, notFound(request));
    }
  }

  async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, MAX_BODY_BYTES);
    if (!body.ok) return sendError(response, body.error);
    const parsed = parseChatRequest(body.value);
    const refusal = parsed.ok ? refusalOf(parsed.chat) : parsed.error;
    if (refusal !== null) sendError(response, refusal);
    else if (parsed.ok) backend.chat(response, parsed.chat);
  }

  function refusalOf(request: ChatRequest): ApiError | null {
    if (!backend.models.includes(request.model)) {
      return { status: 404, type: "NotFoundError", message: `The model \`${request.model}\` does not exist.`, param: "model" };
    }
    const reason = backend.unavailable();
    return reason === null ? null : { status: 503, type: "ServiceUnavailableError", message: reason };
  }
}

const modelEntry = (model: string, backend: EngineBackend, created: number) => ({
  id: model,
  object: "model",
  created,
  owned_by: "weir-emulator",
  root: model,
  parent: null,
  max_model_len: backend.maxModelTokens(),
});
