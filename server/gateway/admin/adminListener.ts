import { createHash, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import { signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayRounds } from "@/server/contracts/gateway/gatewayRounds";
import { reasonOf } from "@/server/lib/reasonOf";
import type { ProgramPath, Round } from "@/solver/policies/core/roundsView";
import { type ApiError, foreignError, retryAfter, sendError, sendJson, sendJsonText } from "../http/apiError";
import { readDocument } from "../http/readDocument";
import { pathEnd, pathOf, sequenceOf } from "../http/requestTarget";
import { withReason } from "../lib/auditLog";
import { isMissing } from "../lib/durableFile";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";
import { artefactRoutes } from "./artefactRoutes";
import { configRoutes } from "./configRoutes";
import { controlRoutes } from "./controlRoutes";
import { ensembleRoutes } from "./ensembleRoutes";
import { keyRoutes } from "./keyRoutes";
import { workflowRoutes } from "./workflowRoutes";

const signatureBytes = 64 * 1024;

/** Path prefixes; the rest of such a path names one item. */
const parents = ["/decisions/", "/artefacts/", "/ensembles/"];

const thresholdPath = /^\/ensembles\/[^/]+\/tau$/;

/** The handler of the admin port: configuration, status, decisions, metrics. */
export function adminListener(options: AdminOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { metrics, token, hosts, handsOver, closesConnections } = options;
  const routes: AdminRoutes = {
    "GET /health": (_, response) => void response.writeHead(200).end(),
    "GET /metrics": async (_, response) => {
      const { text, contentType } = await metrics.exposition();
      response.writeHead(200, { "content-type": contentType }).end(text);
    },
    "GET /status": async (_, response) => sendJson(response, await status(options)),
    "GET /decisions/:id": (request, response) => sendDecision(request, response, options),
    "GET /decisions": (request, response) => sendDecisions(request, response, options),
    ...configRoutes(options),
    ...controlRoutes(options),
    ...artefactRoutes(options),
    ...learningRoutes(options),
    ...workflowRoutes(options),
    ...roundsRoutes(options),
    ...ensembleRoutes(options),
    ...keyRoutes(options),
  };
  const open = new Set(["GET /health", "GET /metrics"]);
  return (request, response) => {
    const path = pathOf(request);
    const parent = parents.find((one) => path.startsWith(one));
    const below = thresholdPath.test(path) ? "/tau" : "";
    const route = `${request.method} ${parent === undefined ? path : `${parent}:id${below}`}`;
    const handler = routes[route];
    const foreign = foreignError(request.headers, hosts);
    if (closesConnections()) response.setHeader("connection", "close");
    if (foreign !== null) sendError(response, foreign);
    else if (!handler)
      sendError(response, { status: 404, message: `There is no ${route} here.`, type: "not_found_error", code: "unknown_path" });
    else if (token !== null && !open.has(route) && !carries(request, token)) refuseToken(request, response, options);
    else if (handsOver() && request.method !== "GET") sendError(response, handingOver, retryAfter(1));
    else {
      Promise.resolve()
        .then(() => handler(request, response))
        .catch((error) => fail(response, error));
    }
  };
}

/** Answers a wrong token late if its sender has sent many. */
function refuseToken(request: IncomingMessage, response: ServerResponse, { pace, refusals }: AdminOptions): void {
  refusals.add(request, unauthorised);
  const refuse = (headers: OutgoingHttpHeaders): void => sendError(response, unauthorised, { ...headers, "www-authenticate": "Bearer" });
  if (pace.keyWaitSeconds(request, null) === 0) refuse({});
  else pace.hold(response, refuse);
}

function sendDecisions(request: IncomingMessage, response: ServerResponse, { decisions }: AdminOptions): void {
  const after = sequenceOf(request);
  if (typeof after === "number") sendJsonText(response, decisions.pageJson(after));
  else sendError(response, after);
}

function sendDecision(request: IncomingMessage, response: ServerResponse, { decisions }: AdminOptions): void {
  const id = pathEnd(request);
  const decision = decisions.findJson(id);
  if (decision !== undefined) {
    sendJsonText(response, decision);
    return;
  }
  const message = `No decision ${JSON.stringify(id.slice(0, 40))} is stored: it does not exist yet, or newer decisions have replaced it.`;
  sendError(response, { status: 404, message, type: "not_found_error", param: "id", code: "unknown_decision" });
}

async function status({
  serving,
  decisions,
  metrics,
  configuration,
  controls,
  audit,
  stages,
  link,
  version,
}: AdminOptions): Promise<GatewayStatus> {
  const { config, pool, queued, predictions } = serving;
  const unscoredStages = serving.gateWatch.reported;
  const graced = (serving.cascade?.driver.grace() ?? []).map(({ model, planned, inForce, sinceMs }) => ({
    ...{ model, planned, inForce, sinceMs },
  }));
  const lacking = [...predictions.service.lacking].map(([hash, reason]) => ({ hash, reason }));
  return {
    version,
    uptimeSeconds: process.uptime(),
    configEtag: config === null ? null : configuration.etag,
    planId: config?.planId ?? null,
    queued: Object.fromEntries(queued),
    replicas: pool.all.map(({ id, model, state, inFlight, unhealthyReason: reason, lacksAccess }) => ({
      id,
      model,
      state,
      inFlight,
      ...(reason !== null && { reason, reasonKind: lacksAccess ? ("access" as const) : ("unhealthy" as const) }),
    })),
    lostStages: stages.lost,
    ...(graced.length > 0 && { grace: graced }),
    lastDecision: decisions.latest,
    refused: metrics.refused,
    shed: metrics.shed,
    unjudged: metrics.unjudged,
    judge: serving.judge?.status() ?? null,
    ...(unscoredStages.length > 0 && { unscoredStages }),
    ...(lacking.length > 0 && { lackingPredictors: lacking }),
    ...(link !== null && { sharing: link.status() }),
    controls: controls.summary(),
    persistedEtag: await configuration.persistedEtag(),
    previous: configuration.previous,
    lastAudit: audit.latest,
  };
}

/** Compares digests, so that the comparison time reveals nothing about the token. */
function carries(request: IncomingMessage, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ""), digest(`Bearer ${token}`));
}

function fail(response: ServerResponse, error: unknown): void {
  const message = reasonOf(error);
  if (response.headersSent) response.destroy();
  else sendError(response, { status: 500, message, type: "server_error", code: "internal" });
}

const handingOver: ApiError = {
  status: 503,
  message: "Another process of this gateway is taking over: send the change again in a second.",
  type: "server_error",
  code: "restarting",
};

const unauthorised: ApiError = {
  status: 401,
  message: "The admin API needs the bearer token that this gateway was started with.",
  type: "authentication_error",
  code: "unauthorised",
};

/** Admin routes for the features that are remembered of answered requests: read all of them, forget them. */
function learningRoutes({ featureLog, audit }: AdminOptions): AdminRoutes {
  return {
    "GET /learning": async (_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      for (const path of await featureLog.files()) {
        await pipeline(createReadStream(path), response, { end: false }).catch((error) => {
          if (!isMissing(error)) throw error;
        });
      }
      response.end();
    },
    "DELETE /learning": async (request, response) => {
      const read = await readDocument(request, signatureSchema, signatureBytes);
      if (read === null) return;
      if ("error" in read) return sendError(response, read.error);
      const { by, reason } = read.document;
      await featureLog.erase();
      const what = "What is remembered of answered requests, for training, is deleted";
      await audit.note({ by, action: "features forgotten", detail: withReason(what, reason) });
      sendJson(response, { erased: true });
    },
  };
}

/** Admin routes for the latest rounds of the policy in force. */
function roundsRoutes({ serving, counts }: AdminOptions): AdminRoutes {
  const shown = (): GatewayRounds => {
    const { cascade } = serving;
    const { rounds = null, programs = [] } = cascade?.driver.policy.rounds?.() ?? {};
    return {
      rounds: rounds?.map(shownRound) ?? null,
      programs: programs.map(shownPath),
      asOfSeconds: (performance.now() / 1000) * (cascade?.timeScale ?? 1),
      predictions: counts.searches,
    };
  };
  return { "GET /rounds": (_, response) => sendJson(response, shown()) };
}

/** The program's name as clients and records write it. */
const shownProgram = (programKey: string): string => programKey.slice(programKey.indexOf("\n") + 1);

const shownPath = (path: ProgramPath): GatewayRounds["programs"][number] => ({
  ...path,
  programId: shownProgram(path.programId),
  accurate: [...path.accurate],
  left: [...path.left],
});

const shownRound = (round: Round): Round => ({
  ...round,
  candidates: round.candidates.map((candidate) => ({
    ...candidate,
    assignments: candidate.assignments.map((one) => ({ ...one, programId: shownProgram(one.programId) })),
  })),
});
