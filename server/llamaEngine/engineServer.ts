import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { z } from "zod";
import { type ApiError, fenced, notFound, pathOf, readJson, sendError, sendJson } from "@/server/contracts/http/apiServer";
import { createAnswerWriter } from "./answerWriter";
import { readChat } from "./chatRequest";
import { fieldError } from "./commonFields";
import { readCompletion } from "./completionRequest";
import type { Engine } from "./engine";
import type { RefusalReason } from "./engineMetrics";
import { createGeneration } from "./generation";
import type { LoadedModel } from "./loadedModel";
import type { ParsedRequest } from "./request";
import { textsOf } from "./scoreShapes";
import type { EngineSettings } from "./settings";
import { timedListener } from "./timedListener";

/** Prompts of the longest contexts as token ids fit. */
const maxBodyBytes = 8_000_000;

const maxHeaderBytes = 16_384;
/** A client that does not finish sending a request is disconnected. */
const requestMs = 60_000;

/** State of the process; the engine is null until it is loaded. */
export interface EngineProcess {
  engine: Engine | null;
  isStopping: boolean;
}

type Settings = Pick<EngineSettings, "alias" | "batchTokens">;

const readers = { "/v1/chat/completions": readChat, "/v1/completions": readCompletion } as const;

/** The engine's HTTP server; it does not listen yet, and refuses requests until the engine is loaded. */
export function createEngineServer(state: EngineProcess, settings: Settings): Server {
  const startedSeconds = Math.floor(Date.now() / 1000);
  const handler = fenced((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // Only a client that disconnected while it was sending causes this.
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  return createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: requestMs, headersTimeout: requestMs }, handler);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { engine, isStopping } = state;
    const path = pathOf(request);
    if (`${request.method} ${path}` === "GET /health") {
      response.writeHead(engine === null || isStopping ? 503 : 200).end();
      return;
    }
    if (engine === null || isStopping) {
      request.resume();
      return refuse(response, unavailable(isStopping), "unavailable");
    }
    if (request.method === "POST" && Object.hasOwn(readers, path)) return generate(engine, path as keyof typeof readers, request, response);
    switch (`${request.method} ${path}`) {
      case "GET /version":
        return sendJson(response, 200, { version: engine.model.version });
      case "GET /v1/models":
        return sendJson(response, 200, { object: "list", data: [modelEntry(engine.model, settings.alias, startedSeconds)] });
      case "GET /server_info":
        return sendJson(response, 200, serverInfo(engine.model, settings.batchTokens));
      case "GET /metrics":
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(await engine.metrics.text());
        return;
      case "POST /tokenize":
        return tokenize(engine.model, request, response);
      default:
        request.resume();
        return sendError(response, notFound(request));
    }
  }

  async function generate(engine: Engine, path: keyof typeof readers, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, maxBodyBytes);
    if (!body.ok) return refuse(response, body.error, "bad-request");
    const asked = readers[path](body.value, engine.model, seedOf());
    if ("status" in asked) return refuse(response, asked, "bad-request");
    if (asked.model !== settings.alias) return refuse(response, unknownModel(asked.model), "bad-request");
    begin(engine, asked, response);
  }

  function begin(engine: Engine, asked: ParsedRequest, response: ServerResponse): void {
    const { model, metrics, batcher } = engine;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const id = `${asked.api === "chat" ? "chatcmpl" : "cmpl"}-${randomUUID()}`;
    const head = { id, model: asked.model, createdSeconds: Math.floor(Date.now() / 1000) };
    const writer = createAnswerWriter(response, { head, asked, textOf: textsOf(model) });
    const listener = timedListener(writer, { metrics, promptTokens: asked.request.prompt.length });
    // A request whose client has disconnected is not evaluated.
    if (response.destroyed) return;
    if (batcher.add(createGeneration(model, asked.request, listener, gone.signal))) metrics.accepted();
    else refuse(response, queueFull, "queue-full");
  }

  async function tokenize(model: LoadedModel, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, maxBodyBytes);
    if (!body.ok) return refuse(response, body.error, "bad-request");
    const parsed = tokenizeSchema.safeParse(body.value);
    if (!parsed.success) return refuse(response, fieldError(parsed.error), "bad-request");
    const tokens = model.tokenize(parsed.data.prompt, parsed.data.add_special_tokens);
    sendJson(response, 200, { count: tokens.length, max_model_len: model.contextTokens, tokens, token_strs: null });
  }

  function refuse(response: ServerResponse, error: ApiError, reason: RefusalReason): void {
    state.engine?.metrics.refused(reason);
    sendError(response, error);
  }
}

const modelEntry = (model: LoadedModel, alias: string, created: number) => ({
  ...{ id: alias, object: "model", created, owned_by: "weir-engine", root: model.fileName, parent: null },
  max_model_len: model.contextTokens,
});

const serverInfo = (model: LoadedModel, batchTokens: number) => ({
  engine: "weir-engine",
  version: model.version,
  max_sequences: model.sequences.length,
  max_batched_tokens: batchTokens,
  max_model_len: model.contextTokens,
  // The field is accepted; requests run in the order they come.
  priority: "ignored",
});

const tokenizeSchema = z.looseObject({ prompt: z.string(), add_special_tokens: z.boolean().default(true) });

const unavailable = (isStopping: boolean): ApiError => ({
  status: 503,
  type: "ServiceUnavailableError",
  message: isStopping ? "The engine is stopping." : "The engine is loading its model.",
});

const queueFull: ApiError = { status: 503, type: "ServiceUnavailableError", message: "The engine's queue is full." };

const unknownModel = (model: string): ApiError => ({
  status: 404,
  type: "NotFoundError",
  message: `The model \`${model}\` does not exist.`,
  param: "model",
});

/** A request without a seed gets a random one. */
const seedOf = (): number => Number.parseInt(randomUUID().slice(0, 8), 16);
