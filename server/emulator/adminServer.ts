import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { engineRequestSchema } from "@/server/contracts/engine/emulatorAdmin";
import { fenced, notFound, pathOf, readJson, sendError, sendJson } from "@/server/contracts/http/apiServer";
import type { Change, Cluster } from "./emulatedCluster";

/** Outcomes of some 100,000 prompts under five models. */
const MAX_BODY_BYTES = 64_000_000;

/** Default wall seconds for which a DELETE waits for running requests. */
const DEFAULT_GRACE_SECONDS = 30;

/** A DELETE is answered after this long at the latest, with 202 if the engine is still draining: clients have time limits. */
const LONGEST_ANSWER_MS = 20_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * The admin listener, as `server/contracts/engine/emulatorAdmin.ts` describes it; every call but `/health` needs the bearer token. DELETE
 * answers 204 once the engine is gone, or 202 while it still drains; asking again joins the same drain.
 *
 * @param ready the cluster, once the engines of the last run are up again; calls wait for it.
 */
export function createAdminServer(ready: Promise<Cluster>, token: string): Server {
  const onRequest = fenced((request, response) => {
    answer({ request, response }).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, { status: 500, type: "InternalServerError", message: String(error) });
    });
  });
  return createServer(onRequest);

  async function answer(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const path = pathOf(request);
    const cluster = await ready;
    if (path === "/health") return void sendJson(response, 200, { status: "ok" });
    if (!mayPass(request, token)) {
      request.resume();
      return sendError(response, { status: 401, type: "AuthenticationError", message: "The bearer token is missing or wrong." });
    }
    const engineId = path.startsWith("/engines/") ? decodeURIComponent(path.slice("/engines/".length)) : null;
    switch (`${request.method} ${engineId === null ? path : "/engines/<id>"}`) {
      case "GET /cluster":
        return sendJson(response, 200, cluster.describe());
      case "GET /engines":
        return sendJson(response, 200, cluster.describe().engines);
      case "POST /engines":
        return startEngine(cluster, exchange);
      case "DELETE /engines/<id>":
        return stopEngine(cluster, exchange, engineId ?? "");
      case "PUT /outcomes":
        return putOutcomes(cluster, exchange);
      default:
        request.resume();
        return sendError(response, notFound(request));
    }
  }

  async function startEngine(cluster: Cluster, { request, response }: Exchange): Promise<void> {
    const body = await readJson(request, MAX_BODY_BYTES);
    if (!body.ok) return sendError(response, body.error);
    const parsed = engineRequestSchema.safeParse(body.value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return refuse(response, { status: 400, message: `Field ${issue?.path.join(".") || "(body)"}: ${issue?.message}` });
    }
    const change = await cluster.start(parsed.data);
    if (change.ok) sendJson(response, 202, change.engine);
    else refuse(response, change);
  }

  async function stopEngine(cluster: Cluster, { request, response }: Exchange, id: string): Promise<void> {
    const asked = new URL(request.url ?? "/", "http://emulator").searchParams.get("graceSeconds");
    const graceSeconds = asked === null ? DEFAULT_GRACE_SECONDS : Number(asked);
    if (!(graceSeconds >= 0)) return refuse(response, { status: 400, message: `graceSeconds is "${asked}": give seconds, 0 or more.` });
    const change = await Promise.race([cluster.stop(id, graceSeconds), stillDraining()]);
    if (change === null) sendJson(response, 202, { id, state: "stopping" });
    else if (change.ok) response.writeHead(204).end();
    else refuse(response, change);
  }

  async function putOutcomes(cluster: Cluster, { request, response }: Exchange): Promise<void> {
    const body = await readJson(request, MAX_BODY_BYTES);
    if (!body.ok) return sendError(response, body.error);
    const change = cluster.putOutcomes(body.value);
    if (change.ok) response.writeHead(204).end();
    else refuse(response, change);
  }
}

const stillDraining = (): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(null), LONGEST_ANSWER_MS).unref();
  });

function refuse(response: ServerResponse, change: Pick<Extract<Change<object>, { ok: false }>, "status" | "message">): void {
  const type = { 400: "BadRequestError", 404: "NotFoundError", 409: "ConflictError" }[change.status];
  sendError(response, { status: change.status, type, message: change.message });
}

/** Digests have a fixed length, as the comparison in constant time requires. */
function mayPass(request: IncomingMessage, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ""), digest(`Bearer ${token}`));
}
