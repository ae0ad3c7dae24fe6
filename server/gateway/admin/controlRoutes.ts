import type { IncomingMessage, ServerResponse } from "node:http";
import { captureErasureSchema, signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import type { Control } from "../controls/control";
import { type ApiError, badRequest, sendError, sendJson } from "../http/apiError";
import { readDocument } from "../http/readDocument";
import { sequenceOf } from "../http/requestTarget";
import type { Mutex } from "../lib/mutex";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";

/** A policy among the largest is some kilobytes. */
const controlBytes = 256 * 1024;

/** Admin routes for the controls: PUT, GET and DELETE of each, and their audit log. */
export function controlRoutes({ controls, audit, mutex }: AdminOptions): AdminRoutes {
  return {
    ...routesOf("/panic", controls.panic, mutex),
    ...routesOf("/canary", controls.canary, mutex),
    ...routesOf("/shadow", controls.shadow, mutex),
    ...routesOf("/mirror", controls.mirror, mutex),
    ...routesOf("/strict-stages", controls.strictStages, mutex),
    ...routesOf("/capture", controls.capture, mutex),
    "DELETE /capture": async (request, response) => {
      const read = await readDocument(request, signatureSchema, controlBytes);
      if (read === null) return;
      const erases = parameter(request, "erase") === "1";
      const { capture } = controls;
      const ended =
        "error" in read ? read.error : await mutex.run(() => (erases ? capture.erase(read.document) : capture.end(read.document)));
      if (ended === null) sendJson(response, capture.read());
      else sendError(response, ended);
    },
    // Not one of the changes that run one after another: it may take minutes, and a panic must not wait.
    "DELETE /captures": async (request, response) => {
      const read = await readDocument(request, captureErasureSchema, controlBytes);
      if (read === null) return;
      if ("error" in read) sendError(response, read.error);
      else sendJson(response, await controls.capture.eraseSome(read.document));
    },
    "GET /captures": async (request, response) => {
      const page = await controls.capture.page(parameter(request, "after"));
      if (page === null)
        sendError(response, badRequest("after is no place in what is kept; take `next` of the page before, or leave it out."));
      else sendJson(response, page);
    },
    "GET /audit": (request, response) => {
      const after = sequenceOf(request);
      if (typeof after === "number") sendJson(response, audit.page(after));
      else sendError(response, after);
    },
  };
}

function routesOf<Request, Document>(path: string, control: Control<Request, Document>, mutex: Mutex): AdminRoutes {
  const answer = (response: ServerResponse, refusal: ApiError | null): void =>
    refusal === null ? sendJson(response, control.read()) : sendError(response, refusal);
  return {
    [`GET ${path}`]: (_, response) => sendJson(response, control.read()),
    [`PUT ${path}`]: async (request, response) => {
      const read = await readDocument(request, control.schema, controlBytes);
      if (read === null) return;
      if (!("error" in read)) await control.prepare?.(read.document);
      answer(response, "error" in read ? read.error : await mutex.run(() => control.begin(read.document)));
    },
    [`DELETE ${path}`]: async (request, response) => {
      const read = await readDocument(request, signatureSchema, controlBytes);
      if (read === null) return;
      answer(response, "error" in read ? read.error : await mutex.run(() => control.end(read.document)));
    },
  };
}

/** A query parameter; empty if it is absent. */
const parameter = ({ url }: IncomingMessage, name: string): string => new URL(url ?? "/", "http://localhost").searchParams.get(name) ?? "";
