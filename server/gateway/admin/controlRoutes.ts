import type { IncomingMessage, ServerResponse } from "node:http";
import { captureErasureSchema, signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import type { Control } from "../controls/control";
import type { OrderedControl } from "../controls/controlsStore";
import { type ApiError, badRequest, sendError, sendJson } from "../http/apiError";
import { type ReadDocument, readDocument } from "../http/readDocument";
import { sequenceOf } from "../http/requestTarget";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";
import { ordered } from "./configRoutes";

/** A policy among the largest is some kilobytes. */
const controlBytes = 256 * 1024;

/**
 * Admin routes for the controls: PUT, GET and DELETE of each, and their audit log. What a control begins is an order of the studio; to end one,
 * and to declare a panic, the token is enough: traffic then follows the signed plan, or one model that it already has.
 */
export function controlRoutes({ controls, audit, mutex, orders }: AdminOptions): AdminRoutes {
  const ordering = <Request, Document>(path: string, name: OrderedControl, control: Control<Request, Document>): AdminRoutes =>
    routesOf(path, control, { mutex, orders }, (request, read) =>
      ordered(orders, request, read, async (document, order) => {
        const refusal = await control.begin(document);
        if (refusal === null) await controls.prove(name, order?.text);
        return refusal;
      }),
    );
  return {
    ...routesOf("/panic", controls.panic, { mutex, orders }, async (_, read) =>
      "error" in read ? read.error : controls.panic.begin(read.document),
    ),
    ...ordering("/canary", "canary", controls.canary),
    ...ordering("/shadow", "shadow", controls.shadow),
    ...ordering("/mirror", "mirror", controls.mirror),
    "GET /mirror/samples": (request, response) => {
      const after = sequenceOf(request);
      if (typeof after === "number") sendJson(response, controls.mirrorSamples.page(after));
      else sendError(response, after);
    },
    ...ordering("/strict-stages", "strictStages", controls.strictStages),
    ...ordering("/capture", "capture", controls.capture),
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
      if (page === null) sendError(response, badRequest("`after` is not a valid cursor: use `next` of the page before, or leave it out."));
      else sendJson(response, page);
    },
    "GET /audit": (request, response) => {
      const after = sequenceOf(request);
      if (typeof after === "number") sendJson(response, audit.page(after));
      else sendError(response, after);
    },
  };
}

function routesOf<Request, Document>(
  path: string,
  control: Control<Request, Document>,
  { mutex, orders }: Pick<AdminOptions, "mutex" | "orders">,
  begin: (request: IncomingMessage, read: ReadDocument<Request>) => Promise<ApiError | null>,
): AdminRoutes {
  const answer = (response: ServerResponse, refusal: ApiError | null): void =>
    refusal === null ? sendJson(response, control.read()) : sendError(response, refusal, orders.revisionHeaders(refusal));
  return {
    [`GET ${path}`]: (_, response) => sendJson(response, control.read()),
    [`PUT ${path}`]: async (request, response) => {
      const read = await readDocument(request, control.schema, controlBytes);
      if (read === null) return;
      if (!("error" in read)) await control.prepare?.(read.document);
      answer(response, await mutex.run(() => begin(request, read)));
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
