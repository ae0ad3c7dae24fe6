import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { type GatewayConfig, type GatewayStatus, gatewayConfigSchema } from "@/server/contracts/gatewayAdmin";
import { type ApiError, sendError, sendJson } from "./apiError";
import type { AuditLog } from "./auditLog";
import { configRefusal } from "./configRefusal";
import { configEtag } from "./configStore";
import { controlRoutes } from "./controlRoutes";
import type { Controls } from "./controls";
import type { DecisionLog } from "./decisionLog";
import { missingJudgeKey } from "./judgeEndpoint";
import type { GatewayMetrics } from "./metrics";
import { readBody } from "./readBody";
import { sequenceOf } from "./sequenceOf";
import type { Serving } from "./serving";
import type { Turns } from "./turns";

/** The ETag of having no configuration yet: a first PUT carries `If-Match: "none"`. */
export const noConfigEtag = "none";
/** A configuration with ten thousand replicas is 2 MB. */
const configBytes = 4 * 1024 * 1024;

interface AdminListenerOptions {
  readonly serving: Serving;
  readonly decisions: DecisionLog;
  readonly metrics: GatewayMetrics;
  readonly controls: Controls;
  readonly audit: AuditLog;
  /** Changes of configuration and controls are made one by one, so that each is made of what it was decided on. */
  readonly turns: Turns;
  readonly version: string;
  /** Without one every caller is let in; the listener is on the loopback address only. */
  readonly token: string | null;
  /** Makes a configuration and the names of the cascades before it durable, before it comes into force. */
  readonly save: (config: GatewayConfig, earlierNames: readonly string[]) => Promise<void>;
  readonly onConfig: (config: GatewayConfig, etag: string) => void;
}

const decisionPath = "/decisions/";

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The handler of the admin port: configuration, status, decisions, metrics. */
export function adminListener(options: AdminListenerOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { serving, metrics, turns, token } = options;
  const routes: Readonly<Record<string, Handler>> = {
    "GET /health": (_, response) => void response.writeHead(200).end(),
    "GET /metrics": async (_, response) => {
      const { text, contentType } = await metrics.exposition();
      response.writeHead(200, { "content-type": contentType }).end(text);
    },
    "GET /status": (_, response) => sendJson(response, status(options)),
    "GET /decisions/:id": (request, response) => sendDecision(request, response, options),
    "GET /decisions": (request, response) => sendDecisions(request, response, options),
    "GET /config": (_, response) => {
      const headers = { etag: `"${currentEtag(serving)}"` };
      if (serving.config === null) sendError(response, noConfig, headers);
      else sendJson(response, serving.config, { headers });
    },
    "PUT /config": (request, response) => turns.take(() => putConfig(request, response, options)),
    ...controlRoutes(options),
  };
  const open = new Set(["GET /health", "GET /metrics"]);
  return (request, response) => {
    const path = pathOf(request);
    const route = `${request.method} ${path.startsWith(decisionPath) ? `${decisionPath}:id` : path}`;
    const handler = routes[route];
    if (!handler)
      sendError(response, { status: 404, message: `There is no ${route} here.`, type: "not_found_error", code: "unknown_path" });
    else if (token !== null && !open.has(route) && !carries(request, token))
      sendError(response, unauthorised, { "www-authenticate": "Bearer" });
    else Promise.resolve(handler(request, response)).catch((error) => fail(response, error));
  };
}

async function putConfig(
  request: IncomingMessage,
  response: ServerResponse,
  { serving, controls, save, onConfig }: AdminListenerOptions,
): Promise<void> {
  const read = await readBody(request, configBytes);
  if (read.kind === "cut-off" || read.kind === "ended") return;
  if (read.kind === "too-large") {
    const message = `A configuration may have ${configBytes} bytes.`;
    return sendError(response, { status: 413, message, type: "invalid_request_error", code: "body_too_large" }, { connection: "close" });
  }
  const before = currentEtag(serving);
  const match = request.headers["if-match"];
  const etagHeader = { etag: `"${before}"` };
  if (match === undefined) {
    const message = 'PUT /config needs If-Match with the ETag that GET /config gives ("none" before the first).';
    return sendError(response, { status: 428, message, type: "invalid_request_error", code: "if_match_missing" }, etagHeader);
  }
  if (match.replaceAll('"', "").trim() !== before) {
    const message = "The configuration has changed since it was read; GET /config and decide again.";
    return sendError(response, { status: 412, message, type: "invalid_request_error", code: "stale_etag" }, etagHeader);
  }
  const parsed = parseConfig(read.bytes);
  if (!parsed.ok) return sendError(response, parsed.error, etagHeader);
  const settings = parsed.config.settings ?? serving.config?.settings;
  const config = settings === undefined ? parsed.config : { ...parsed.config, settings };
  const hindrance = controls.configRefusal(config);
  if (hindrance !== null) return sendError(response, hindrance, etagHeader);
  const earlierNames = serving.earlierNamesUnder(config);
  await save(config, earlierNames);
  serving.install(config, earlierNames);
  const etag = currentEtag(serving);
  onConfig(config, etag);
  sendJson(response, { etag }, { headers: { etag: `"${etag}"` } });
}

function parseConfig(
  bytes: Buffer,
): { readonly ok: true; readonly config: GatewayConfig } | { readonly ok: false; readonly error: ApiError } {
  const refuse = (message: string, code: string) => ({
    ok: false as const,
    error: { status: 400, message, type: "invalid_request_error" as const, code },
  });
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    return refuse("The configuration is not valid JSON.", "invalid_json");
  }
  const parsed = gatewayConfigSchema.safeParse(body);
  if (!parsed.success) return refuse(z.prettifyError(parsed.error), "invalid_config");
  const refusal = configRefusal(parsed.data) ?? missingJudgeKey(parsed.data.judge);
  return refusal === null ? { ok: true, config: parsed.data } : refuse(refusal, "unservable_config");
}

function sendDecisions(request: IncomingMessage, response: ServerResponse, { decisions }: AdminListenerOptions): void {
  const after = sequenceOf(request);
  if (typeof after === "number") sendJson(response, decisions.page(after));
  else sendError(response, after);
}

function sendDecision(request: IncomingMessage, response: ServerResponse, { decisions }: AdminListenerOptions): void {
  const id = pathOf(request).slice(decisionPath.length);
  const decision = decisions.find(id);
  if (decision !== undefined) {
    sendJson(response, decision);
    return;
  }
  const message = `No decision ${JSON.stringify(id.slice(0, 40))} is kept; it is not made yet, or others have taken its place.`;
  sendError(response, { status: 404, message, type: "not_found_error", param: "id", code: "unknown_decision" });
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? "/").split("?", 1)[0] ?? "/";
}

function status({ serving, decisions, metrics, controls, audit, version }: AdminListenerOptions): GatewayStatus {
  const { config, pool, queued } = serving;
  return {
    version,
    uptimeSeconds: process.uptime(),
    configEtag: config === null ? null : currentEtag(serving),
    planId: config?.planId ?? null,
    queued: Object.fromEntries(queued),
    replicas: pool.all.map(({ id, model, state, inFlight }) => ({ id, model, state, inFlight })),
    lastDecision: decisions.latest,
    refused: metrics.refused,
    unjudged: metrics.unjudged,
    controls: controls.summary(),
    lastAudit: audit.latest,
  };
}

function currentEtag({ config }: Serving): string {
  return config === null ? noConfigEtag : configEtag(config);
}

/** Compares digests, so that the time taken tells nothing of the token. */
function carries(request: IncomingMessage, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ""), digest(`Bearer ${token}`));
}

function fail(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (response.headersSent) response.destroy();
  else sendError(response, { status: 500, message, type: "server_error", code: "internal" });
}

const noConfig: ApiError = { status: 404, message: "No configuration is in force yet.", type: "not_found_error", code: "no_config" };
const unauthorised: ApiError = {
  status: 401,
  message: "The admin API needs the bearer token this gateway was started with.",
  type: "authentication_error",
  code: "unauthorised",
};
