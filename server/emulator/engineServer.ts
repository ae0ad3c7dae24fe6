import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type ApiError, fenced, pathOf, readJson, sendError, sendJson } from "@/server/contracts/http/apiServer";
import { isRecord } from "@/solver/collections/isRecord";
import { parseChatRequest, textOfMessages } from "./chatRequest";
import { contextFault } from "./contextFault";
import { promptPieces, tokenId } from "./emulatedTokens";
import type { Generation } from "./generation";
import { type Body, type Parsed, samplingFault } from "./generationFields";
import type { GenerationRequest, PromptText } from "./generationRequest";
import { fieldError } from "./pydanticError";
import { rerank, score } from "./rankedTexts";
import { formedGeneration } from "./structuredAnswer";
import { parseTextRequest } from "./textRequest";
import { callGeneration } from "./toolCall";

/** The version that an emulated engine reports: the vLLM whose recorded answers it is held against, marked as emulated. */
const EMULATED_VERSION = "0.32.0+emulated";

/** vLLM has no limit; this one has room for a prompt of some million tokens and bounds memory. */
const MAX_BODY_BYTES = 32_000_000;

/** The backend of one engine port. */
export interface EngineBackend {
  /** Its served names: one model for an engine, two names for the judge's server. The first is that of a request which names none. */
  readonly models: readonly [string, ...string[]];
  /** Why it takes no requests now; null if it does. */
  unavailable(): string | null;
  maxModelTokens(): number;
  /** What a model generates for a prompt; null if it has nothing to replay. */
  generationOf(prompt: PromptText, model: string): Generation | null;
  /** Why it has nothing. */
  noGeneration(model: string): ApiError;
  generate(response: ServerResponse, request: GenerationRequest, generations: readonly Generation[]): void;
  metricsText(): Promise<string>;
}

type Method = "GET" | "POST";
type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An HTTP server with the part of vLLM's API that a gateway, a judge and a scraper use. It does not listen yet. */
export function createEngineServer(backend: EngineBackend): Server {
  const startedSeconds = Math.floor(Date.now() / 1000);
  const open = new Set<ServerResponse>();
  const health: Handler = (_, response) => response.writeHead(backend.unavailable() === null ? 200 : 503, { "content-length": 0 }).end();
  const generates =
    (parse: (body: Body) => Parsed): Handler =>
    (request, response) =>
      generate(parse, request, response);
  const paths: Readonly<Record<string, Partial<Record<Method, Handler>>>> = {
    "/health": { GET: health },
    "/ping": { GET: health, POST: health },
    "/version": { GET: (_, response) => sendJson(response, 200, { version: EMULATED_VERSION }) },
    "/load": { GET: (_, response) => sendJson(response, 200, { server_load: open.size }) },
    "/v1/models": {
      GET: (_, response) =>
        sendJson(response, 200, { object: "list", data: backend.models.map((model) => modelEntry(model, backend, startedSeconds)) }),
    },
    "/metrics": {
      GET: async (_, response) =>
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(await backend.metricsText()),
    },
    "/tokenize": { POST: tokenize },
    "/v1/chat/completions": { POST: generates(parseChatRequest) },
    "/v1/completions": { POST: generates(parseTextRequest) },
    "/v1/rerank": { POST: (request, response) => rank(rerank, request, response) },
    "/v1/score": { POST: (request, response) => rank(score, request, response) },
  };
  const onRequest = fenced((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // Only a client that disconnected while it was sending causes this.
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  return createServer(onRequest);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("vary", "Origin");
    const path = paths[pathOf(request)];
    const handler = path?.[request.method as Method];
    if (handler !== undefined) {
      await handler(request, response);
      return;
    }
    request.resume();
    // The web framework's own answers, not of the form of the API.
    if (path === undefined) return sendJson(response, 404, { detail: "Not Found" });
    response.setHeader("allow", Object.keys(path).join(", "));
    sendJson(response, 405, { detail: "Method Not Allowed" });
  }

  async function generate(parse: (body: Body) => Parsed, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readBody(request);
    if (!read.ok) return sendError(response, read.error);
    const parsed = parse(read.body);
    if (!parsed.ok) return sendError(response, parsed.error);
    const asked = parsed.request;
    const model = asked.model ?? backend.models[0];
    const refusal = refusalOf(model);
    if (refusal !== null) return sendError(response, refusal);
    const generations = asked.prompts.flatMap((prompt) => backend.generationOf(prompt, model) ?? []);
    if (generations.length < asked.prompts.length) return sendError(response, backend.noGeneration(model));
    const fault = contextFault(generations, asked, backend.maxModelTokens()) ?? samplingFault(read.body, asked);
    if (fault !== null) return sendError(response, fault);
    open.add(response);
    response.once("close", () => open.delete(response));
    const { call, form } = asked;
    const written = generations.map((generation) => {
      if (call !== null) return callGeneration(generation, call);
      return form === null ? generation : formedGeneration(generation, form);
    });
    backend.generate(response, asked, written);
  }

  /** A request to rank or score texts, which takes no time. */
  async function rank(ranks: typeof rerank, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readBody(request);
    if (!read.ok) return sendError(response, read.error);
    const { model: named } = read.body;
    const model = typeof named === "string" && named !== "" ? named : backend.models[0];
    const refusal = refusalOf(model);
    if (refusal !== null) return sendError(response, refusal);
    const ranked = ranks(read.body, { model, createdSeconds: Math.floor(Date.now() / 1000) });
    if (ranked.ok) sendJson(response, 200, ranked.answer);
    else sendError(response, ranked.error);
  }

  /** A request for the tokens of a prompt, or of a chat's last question: as many as it has when it is answered. */
  async function tokenize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readBody(request);
    if (!read.ok) return sendError(response, read.error);
    const { model: named, prompt, messages, return_token_strs: withTexts } = read.body;
    const model = typeof named === "string" && named !== "" ? named : backend.models[0];
    const refusal = refusalOf(model);
    if (refusal !== null) return sendError(response, refusal);
    if (typeof prompt !== "string" && !Array.isArray(messages)) {
      const missing = ["prompt", "messages"].map((name) => ({
        type: "missing",
        loc: ["body", name],
        msg: "Field required",
        input: read.body,
      }));
      return sendError(response, fieldError(missing));
    }
    const text = typeof prompt === "string" ? prompt : textOfMessages(messages);
    const generation = backend.generationOf({ text, tokens: null }, model);
    if (generation === null) return sendError(response, backend.noGeneration(model));
    const pieces = promptPieces(text, generation.inputTokens);
    sendJson(response, 200, {
      count: pieces.length,
      max_model_len: backend.maxModelTokens(),
      tokens: pieces.map(tokenId),
      token_strs: withTexts === true ? pieces : null,
    });
  }

  function refusalOf(model: string): ApiError | null {
    if (!backend.models.includes(model))
      return {
        status: 404,
        type: "NotFoundError",
        message: `The model \`${model}\` does not exist. Valid aliases: ${backend.models.join(", ")}.`,
        param: "model",
      };
    const reason = backend.unavailable();
    return reason === null ? null : { status: 503, type: "ServiceUnavailableError", message: reason };
  }
}

/** vLLM names the position and what it expects there. */
const badJson = fieldError([
  { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: "{'error': 'Expecting value'}" },
]);

type ReadBody = { readonly ok: true; readonly body: Body } | { readonly ok: false; readonly error: ApiError };

/** Reads a body that must be a JSON object, and is refused as vLLM does if it is not. */
async function readBody(request: IncomingMessage): Promise<ReadBody> {
  const read = await readJson(request, MAX_BODY_BYTES);
  const mediaType = request.headers["content-type"]?.toLowerCase().split(";", 1)[0];
  if (mediaType !== "application/json") {
    const message = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed";
    return { ok: false, error: { status: 400, type: "Bad Request", message } };
  }
  if (read.ok) {
    if (isRecord(read.value)) return { ok: true, body: read.value };
    const msg = "Input should be a valid dictionary or object to extract fields from";
    return { ok: false, error: fieldError([{ type: "model_attributes_type", loc: ["body"], msg, input: read.value }]) };
  }
  if (read.kind === "too-large" || read.kind === "too-deep") return read;
  return {
    ok: false,
    error: read.kind === "empty" ? fieldError([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]) : badJson,
  };
}

const modelEntry = (model: string, backend: EngineBackend, created: number) => ({
  id: model,
  object: "model",
  created,
  owned_by: "weir-emulator",
  root: model,
  parent: null,
  max_model_len: backend.maxModelTokens(),
  permission: [
    {
      id: `modelperm-${tokenId(model).toString(16).padStart(16, "0")}`,
      object: "model_permission",
      created,
      allow_create_engine: false,
      allow_sampling: true,
      allow_logprobs: true,
      allow_search_indices: false,
      allow_view: true,
      allow_fine_tuning: false,
      organization: "*",
      group: null,
      is_blocking: false,
    },
  ],
});
