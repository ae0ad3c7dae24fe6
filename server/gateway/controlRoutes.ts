import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import { signatureSchema } from "@/server/contracts/gatewayControls";
import { type ApiError, sendError, sendJson } from "./apiError";
import type { AuditLog } from "./auditLog";
import { type Control, senseless } from "./control";
import type { Controls } from "./controls";
import { readBody } from "./readBody";
import { sequenceOf } from "./sequenceOf";
import type { Turns } from "./turns";

/** A policy among the largest is some kilobytes. */
const controlBytes = 256 * 1024;

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

interface ControlRoutesOptions {
  readonly controls: Controls;
  readonly audit: AuditLog;
  readonly turns: Turns;
}

/** What the admin port answers about the controls: PUT, GET and DELETE of each, and what was done with them. */
export function controlRoutes({ controls, audit, turns }: ControlRoutesOptions): Readonly<Record<string, Handler>> {
  return {
    ...routesOf("/panic", controls.panic, turns),
    "GET /audit": (request, response) => {
      const after = sequenceOf(request);
      if (typeof after === "number") sendJson(response, audit.page(after));
      else sendError(response, after);
    },
  };
}

function routesOf<Request, Document>(path: string, control: Control<Request, Document>, turns: Turns): Readonly<Record<string, Handler>> {
  const answer = (response: ServerResponse, refusal: ApiError | null): void =>
    refusal === null ? sendJson(response, control.read()) : sendError(response, refusal);
  return {
    [`GET ${path}`]: (_, response) => sendJson(response, control.read()),
    [`PUT ${path}`]: async (request, response) => {
      const read = await readDocument(request, control.schema);
      if (read === null) return;
      answer(response, "error" in read ? read.error : await turns.take(() => control.begin(read.document)));
    },
    [`DELETE ${path}`]: async (request, response) => {
      const read = await readDocument(request, signatureSchema);
      if (read === null) return;
      answer(response, "error" in read ? read.error : await turns.take(() => control.end(read.document)));
    },
  };
}

/** Reads a body of the given shape; null where the client went away. */
export async function readDocument<T>(
  request: IncomingMessage,
  schema: z.ZodType<T>,
): Promise<{ readonly document: T } | { readonly error: ApiError } | null> {
  const read = await readBody(request, controlBytes);
  if (read.kind === "cut-off" || read.kind === "ended") return null;
  if (read.kind === "too-large") {
    const message = `The body may have ${controlBytes} bytes.`;
    return { error: { status: 413, message, type: "invalid_request_error", code: "body_too_large" } };
  }
  let body: unknown;
  try {
    body = JSON.parse(read.bytes.toString("utf8"));
  } catch {
    return { error: senseless("The body is not valid JSON.") };
  }
  const parsed = schema.safeParse(body);
  return parsed.success ? { document: parsed.data } : { error: senseless(sentenceOf(parsed.error)) };
}

/** The first of what is wrong. */
function sentenceOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join(".") ?? "";
  const what = issue?.message ?? "of the wrong shape";
  return path === "" ? `The body is wrong: ${what}.` : `\`${path}\` is wrong: ${what}.`;
}
