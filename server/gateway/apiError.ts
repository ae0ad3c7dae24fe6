import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

/** An error as the OpenAI API reports it, with its HTTP status. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type:
    | "invalid_request_error"
    | "not_found_error"
    | "authentication_error"
    | "rate_limit_error"
    | "server_error"
    | "timeout_error";
  readonly param?: string;
  readonly code: string;
}

/** The body of an error: `{"error":{"message","type","param","code"}}`. */
export function errorBody({ message, type, param, code }: ApiError): string {
  return JSON.stringify({ error: { message, type, param: param ?? null, code } });
}

/** Answers with the error; ends the response. */
export function sendError(response: ServerResponse, error: ApiError, headers: OutgoingHttpHeaders = {}): void {
  const body = errorBody(error);
  response.writeHead(error.status, { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** Answers with a JSON document; ends the response. */
export function sendJson(response: ServerResponse, value: unknown, { status = 200, headers = {} }: JsonOptions = {}): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

interface JsonOptions {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
}
