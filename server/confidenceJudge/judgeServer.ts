import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Counter, Registry } from "prom-client";
import { z } from "zod";
import { type ApiError, fenced, notFound, pathOf, readJson, sendError, sendJson } from "@/server/contracts/http/apiServer";
import { messageText } from "@/solver/judging/conversation";
import { type Judged, judgeAnswer } from "./judgeAnswer";
import { judgedTexts } from "./judgedTexts";
import { JUDGE_MODEL } from "./judgePrograms";
import type { ScoringEngine } from "./scoringEngine";

/** Far above what the models can read. */
const MAX_BODY_BYTES = 1_000_000;

/** One tick of the engine's health check: an engine that is up answers it at once. */
const HEALTH_MS = 2000;

const requestSchema = z.object({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  stream: z.literal(false, "this judge does not stream, leave it out").nullish(),
});

type Judgement =
  | { readonly ok: true; readonly score: number; readonly promptTokens: number }
  | { readonly ok: false; readonly error: ApiError };

/**
 * A judge under OpenAI's API whose score of an answer, 0 to 100, is 100 times the smallest probability that a model gives to a token of it.
 * It takes the calls of `solver/judging/judgeCall`. The server does not listen yet.
 */
export function createJudgeServer(engine: ScoringEngine): Server {
  const created = Math.floor(Date.now() / 1000);
  const registry = new Registry();
  const judged = new Counter({
    name: "weir_judge_requests_total",
    help: "Judgements that got a score.",
    labelNames: ["model"],
    registers: [registry],
  });
  judged.inc({ model: JUDGE_MODEL }, 0);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (`${request.method} ${pathOf(request)}`) {
      case "GET /health":
        response.writeHead((await isServing(engine)) ? 200 : 503).end();
        return;
      case "GET /v1/models":
        sendJson(response, 200, { object: "list", data: [{ id: JUDGE_MODEL, object: "model", created, owned_by: "weir" }] });
        return;
      case "GET /metrics":
        response.writeHead(200, { "content-type": registry.contentType }).end(await registry.metrics());
        return;
      case "POST /v1/chat/completions": {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        const judgement = await judge(engine, request, gone.signal);
        if (!judgement.ok) return sendError(response, judgement.error);
        judged.inc({ model: JUDGE_MODEL });
        sendJson(response, 200, completionOf(judgement));
        return;
      }
      default:
        request.resume();
        sendError(response, notFound(request));
    }
  };
  return createServer(
    fenced((request, response) => {
      // Only a client that disconnected while it was sending causes this.
      answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    }),
  );
}

async function judge(engine: ScoringEngine, request: IncomingMessage, signal: AbortSignal): Promise<Judgement> {
  const body = await readJson(request, MAX_BODY_BYTES);
  if (!body.ok) return body;
  const parsed = requestSchema.safeParse(body.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") ?? "";
    return refused(`Field ${field || "(body)"}: ${issue?.message}.`);
  }
  const { model, messages } = parsed.data;
  if (model !== JUDGE_MODEL) {
    const message = `The model \`${model}\` does not exist.`;
    return { ok: false, error: { status: 404, type: "NotFoundError", message, param: "model" } };
  }
  const asked = messages.findLast(({ role }) => role === "user");
  const texts = asked === undefined ? null : judgedTexts(messageText(asked));
  if (texts === null) return refused("The last message of the user has no marks [question] and [answer] before the texts to judge.");
  const judged = await judgeAnswer(engine, texts, signal);
  return judged.kind === "judged" ? { ok: true, ...judged } : { ok: false, error: errorOf(engine, judged) };
}

const refused = (message: string): Judgement => ({ ok: false, error: { status: 400, type: "BadRequestError", message } });

function errorOf({ url, limitMs }: ScoringEngine, judged: Exclude<Judged, { readonly kind: "judged" }>): ApiError {
  const unavailable = { status: 503, type: "ServiceUnavailableError" };
  switch (judged.kind) {
    case "unreached":
      return { ...unavailable, message: `The engine at ${url} does not answer: ${judged.reason}.` };
    case "timed-out":
      return { status: 504, type: "GatewayTimeoutError", message: `The engine at ${url} gave no score within ${limitMs / 1000} s.` };
    case "refused":
      return { status: 400, type: "BadRequestError", message: `The engine at ${url} refuses the text: ${judged.reason}.` };
    case "unscored":
      return { status: 502, type: "BadGatewayError", message: `The engine at ${url} gives no log probabilities of a prompt's tokens.` };
    case "aborted":
      return { ...unavailable, message: "The client left before there was a score." };
  }
}

const completionOf = ({ score, promptTokens }: { readonly score: number; readonly promptTokens: number }) => ({
  id: `chatcmpl-${randomUUID()}`,
  object: "chat.completion",
  created: Math.floor(Date.now() / 1000),
  model: JUDGE_MODEL,
  choices: [{ index: 0, message: { role: "assistant", content: String(score) }, logprobs: null, finish_reason: "stop" }],
  usage: { prompt_tokens: promptTokens, completion_tokens: 1, total_tokens: promptTokens + 1 },
});

async function isServing({ url }: ScoringEngine): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_MS), redirect: "error" });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
