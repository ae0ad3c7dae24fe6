import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Dialects, messagesPath, responsesPath, tokenCountPath } from "./dialects/dialects";
import { type ApiError, foreignError, sendError, sendJson } from "./http/apiError";
import type { Caller } from "./http/callers";
import { endpoints } from "./http/endpoints";
import { requestIds } from "./http/modelRequest";
import { countTokens } from "./models/countTokens";
import { ModelList } from "./models/modelList";
import { type RequestService, serveRequest } from "./request/serveRequest";
import { WorkflowRuns } from "./runs/workflowRuns";

/** Paths that need a key if keys are set. */
const keyedPaths = "/v1/";
const modelPath = "/v1/models/";
const workflowsPath = "/v1/workflows";
/** The path that runs a workflow; it captures the workflow's name. */
const runsPath = /^\/v1\/workflows\/([^/]+)\/runs$/;
const endpointAt = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
const storedPath = `${responsesPath}/`;

interface DataListenerOptions extends RequestService {
  readonly dialects: Dialects;
  readonly version: string;
  /** Names under which clients may know the gateway, beside its addresses. */
  readonly hosts: ReadonlySet<string>;
  /** Whether each connection ends with its next answer. */
  readonly closesConnections: () => boolean;
  /** Called for errors that only a bug explains. */
  readonly onBug: (error: unknown) => void;
}

/** The handler of the data port: the APIs of OpenAI and Anthropic over the served models, and runs of declared workflows. */
export function dataListener(options: DataListenerOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { serving, version, hosts, pace, draining, loopback, dialects, closesConnections, onBug, onRefused } = options;
  const runs = new WorkflowRuns(options);
  const models = new ModelList(serving);
  const readers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    "/health": (response) => void response.writeHead(200).end(),
    "/health/ready": (response) => void response.writeHead(serving.config === null || draining() ? 503 : 200).end(),
    "/version": (response) => sendJson(response, { version }),
    "/v1/models": (response) => models.sendAll(response),
    [workflowsPath]: (response) => runs.list(response),
  };
  return (request, response) => {
    const path = pathOf(request.url ?? "/");
    let caller: Caller | null = null;
    const translated = dialects.begin(path, response, () => caller?.sha256 ?? null);
    const refuse = (error: ApiError, headers: OutgoingHttpHeaders = {}): void =>
      sendError(response, error, { "x-request-id": requestIds(request.headers).requestId, ...headers });
    if (closesConnections()) response.setHeader("connection", "close");
    const foreign = foreignError(request.headers, hosts);
    if (foreign !== null) {
      onRefused(null, foreign.status, null);
      return refuse(foreign);
    }
    const isKeyed = path.startsWith(keyedPaths);
    caller = isKeyed ? serving.callers.identify(request.headers, { isPart: loopback.isPart(request.headers) }) : null;
    if (isKeyed && (caller === null || caller.key !== null)) {
      const waitSeconds = pace.keyWaitSeconds(request, caller?.key ?? null);
      if (waitSeconds > 0) {
        onRefused(null, 429, null);
        return pace.hold(response, (headers) => refuse(tooManyWrongKeys, { ...headers, "retry-after": String(Math.ceil(waitSeconds)) }));
      }
      if (caller === null) {
        onRefused(null, wrongKey.status, null);
        return refuse({ ...wrongKey, ...wrongKeys[serving.callers.refusal(request.headers)] }, { "www-authenticate": "Bearer" });
      }
    }
    const failed = (error: unknown): void => {
      onBug(error);
      try {
        if (response.headersSent) response.destroy();
        else refuse({ status: 500, message: "The gateway failed.", type: "server_error", code: "internal" });
      } catch (again) {
        // Nothing catches what is thrown here: it would end the process.
        onBug(again);
        response.destroy();
      }
    };
    const endpoint = translated ?? endpointAt.get(path);
    const workflow = endpoint === undefined ? runsPath.exec(path)?.[1] : undefined;
    if (caller !== null && (endpoint !== undefined || workflow !== undefined)) {
      if (request.method !== "POST") refuse(wrongMethod(path, "POST"), { allow: "POST" });
      else if (translated !== null && path === tokenCountPath)
        countTokens({ endpoint: translated, caller, request, response }, options).catch(failed);
      else if (translated !== null && path.startsWith(`${messagesPath}/`)) refuse(unknownPath(path));
      else if (endpoint !== undefined) serveRequest({ endpoint, caller, request, response }, options).catch(failed);
      else runs.serve({ name: decoded(workflow ?? ""), key: caller.key, request, response }).catch(failed);
      return;
    }
    if (caller !== null && path.startsWith(storedPath)) {
      dialects.serveStored({ id: decoded(path.slice(storedPath.length)), owner: caller.sha256, request, response });
      return;
    }
    const asked = path.startsWith(modelPath) ? decoded(path.slice(modelPath.length)) : null;
    const reader = asked === null ? readers[path] : (response: ServerResponse) => models.sendOne(response, asked);
    if (!reader) refuse(unknownPath(path));
    else if (request.method === "GET" || request.method === "HEAD") Promise.resolve(reader(response)).catch(failed);
    else refuse(wrongMethod(path, "GET"), { allow: "GET" });
  };
}

/** The path of a request's target, which proxies may write with scheme and host. */
function pathOf(target: string): string {
  if (!target.startsWith("/") && URL.canParse(target)) return new URL(target).pathname;
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** A decoded name in a path: clients may or may not escape the slashes of a model's name. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const tooManyWrongKeys: ApiError = {
  status: 429,
  message: "Too many wrong API keys have come from this address.",
  type: "rate_limit_error",
  code: "too_many_wrong_keys",
};

const wrongKey: ApiError = {
  status: 401,
  message: "This gateway needs one of its API keys, as the bearer token or in x-api-key.",
  type: "authentication_error",
  code: "invalid_api_key",
};

/** What differs for a key that was accepted before. */
const wrongKeys: Readonly<Record<ReturnType<RequestService["serving"]["callers"]["refusal"]>, Partial<ApiError>>> = {
  unknown: {},
  expired: { message: "This API key has expired: ask the operator of this gateway for another.", code: "expired_api_key" },
  revoked: { message: "This API key was revoked: ask the operator of this gateway for another.", code: "revoked_api_key" },
};

function unknownPath(path: string): ApiError {
  return { status: 404, message: `There is no ${path} here.`, type: "not_found_error", code: "unknown_path" };
}

function wrongMethod(path: string, allowed: string): ApiError {
  return { status: 405, message: `${path} answers ${allowed} only.`, type: "invalid_request_error", code: "method_not_allowed" };
}
