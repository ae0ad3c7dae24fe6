import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApiError, sendError, sendJsonText } from "../http/apiError";
import { shownName } from "../http/clientNames";
import { requestIds } from "../http/modelRequest";
import type { ResponseStore } from "./responseStore";

export interface StoredRequest {
  readonly id: string;
  /** SHA-256 of its API key; null if it has none. */
  readonly owner: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers a request for a stored response, or deletes it. @param store null: none are kept. */
export function serveStored(store: ResponseStore | null, { id, owner, request, response }: StoredRequest): void {
  const headers = { "x-request-id": requestIds(request.headers).requestId };
  const { method } = request;
  const reads = method === "GET" || method === "HEAD";
  const found = reads ? (store?.find(id, owner) ?? null) : null;
  if (!reads && method !== "DELETE") sendError(response, wrongMethod, { ...headers, allow: "GET, DELETE" });
  else if (found !== null) sendJsonText(response, found.toString(), { headers });
  else if (method === "DELETE" && store?.remove(id, owner))
    sendJsonText(response, JSON.stringify({ id, object: "response", deleted: true }), { headers });
  else sendError(response, store === null ? noneKept : notKept(id), headers);
}

const notKept = (id: string): ApiError => ({
  status: 404,
  message: `There is no response ${shownName(id)} here: it has expired, or was not stored.`,
  type: "not_found_error",
  code: "response_not_found",
});

const noneKept: ApiError = {
  status: 404,
  message: "This gateway keeps no responses.",
  type: "not_found_error",
  code: "response_not_found",
};

const wrongMethod: ApiError = {
  status: 405,
  message: "A stored response answers GET and DELETE only.",
  type: "invalid_request_error",
  code: "method_not_allowed",
};
