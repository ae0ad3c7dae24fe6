import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { accessRefusal } from "@/server/contracts/engine/readEngineAccess";
import { configRequestSchema, type GatewayConfig, type GatewayReplica, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { knobsRequestSchema, signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import { learntOf } from "@/solver/plan/policySchema";
import { hashRefusal } from "../controls/candidateRefusal";
import { type ApiError, sendError, sendJson } from "../http/apiError";
import { type ReadDocument, readDocument } from "../http/readDocument";
import { missingJudgeKey } from "../judge/judgeEndpoint";
import type { Coming } from "../prediction/artifactStore";
import { configRefusal, priceRefusal } from "../serving/configRefusal";
import type { AcceptedOrder, StudioOrders } from "../serving/studioOrders";
import type { AdminHandler, AdminOptions, AdminRoutes } from "./adminRoutes";

/** A configuration with ten thousand replicas is 2 MB. */
const configBytes = 4 * 1024 * 1024;
const revisionBytes = 64 * 1024;

/**
 * Admin routes for the configuration: read it, replace it, check whether another could replace it, change its knobs, go back to the
 * previous plan. Every change is an order of the studio, except the way back to a plan that it had put into force.
 */
export function configRoutes({ configuration, controls, mutex, serving, orders }: AdminOptions): AdminRoutes {
  const { service } = serving.predictions;
  /**
   * Changes the configuration that the caller has read. `namedBy` returns the predictors that the change requires; `isOrder`: only the studio may
   * make it.
   */
  function change<T>(
    schema: z.ZodType<T>,
    limitBytes: number,
    make: (document: T, order: AcceptedOrder) => Promise<ApiError | null>,
    { namedBy = () => [], isOrder = true }: { readonly namedBy?: (document: T) => readonly string[]; readonly isOrder?: boolean } = {},
  ): AdminHandler {
    return async (request, response) => {
      const read = await readDocument(request, schema, limitBytes);
      if (read === null) return;
      // Predictors are loaded outside the mutex, before and after the change: a panic waits for no load.
      if (!("error" in read) && matchRefusal(request, configuration.etag) === null) await service.prepare(new Set(namedBy(read.document)));
      const { refusal, ...made } = await mutex.run(async () => {
        const refused =
          matchRefusal(request, configuration.etag) ?? (await (isOrder ? ordered(orders, request, read, make) : unordered(read, make)));
        const { planId, policyHash } = configuration.current ?? {};
        return { refusal: refused, etag: configuration.etag, planId, policyHash };
      });
      const headers = { etag: `"${made.etag}"` };
      if (refusal !== null) return sendError(response, refusal, { ...headers, ...orders.revisionHeaders(refusal) });
      // The answer waits until the predictors are loaded: from then on requests are predicted and remembered.
      await service.settled;
      sendJson(response, made, { headers });
    };
  }
  /** Why a configuration would be refused, apart from a changed ETag. */
  function refusalOf(config: GatewayConfig, coming?: Coming): ApiError | null {
    const refusal =
      configRefusal(config) ??
      priceRefusal(config) ??
      hashRefusal(config) ??
      missingJudgeKey(config.judge) ??
      serving.artifacts.refusal(config.policy, coming) ??
      astrayFile(config.replicas) ??
      serving.secrets.refusal(config) ??
      (config.settings === undefined ? null : serving.callers.keysRefusal(config.settings.keys));
    if (refusal === null) return controls.configRefusal(config);
    return { status: 400, message: refusal, type: "invalid_request_error", code: "unservable_config" };
  }
  return {
    "GET /config": (_, response) => {
      const headers = { etag: `"${configuration.etag}"` };
      if (configuration.current === null) sendError(response, noConfig, headers);
      else sendJson(response, configuration.current, { headers });
    },
    "PUT /config": change(
      configRequestSchema,
      configBytes,
      async (config, order) => refusalOf(config) ?? (await configuration.put(config, order)),
      { namedBy: (config) => (refusalOf(config) === null ? learntOf(config.policy) : []) },
    ),
    "POST /config/validate": async (request, response) => {
      const read = await readDocument(request, gatewayConfigSchema, configBytes);
      if (read === null) return;
      const refusal = "error" in read ? read.error : refusalOf(read.document, comingOf(request));
      if (refusal === null) sendJson(response, { valid: true });
      else sendError(response, refusal);
    },
    "PATCH /knobs": change(knobsRequestSchema, revisionBytes, (request, order) => configuration.turnKnobs(request, order)),
    "POST /rollback": change(signatureSchema, revisionBytes, (signature) => configuration.rollBack(signature), {
      namedBy: () => configuration.learnt.filter((hash) => serving.artifacts.get(hash) !== undefined),
      // It is an operator's way out of an outage, without the studio too.
      isOrder: false,
    }),
  };
}

/**
 * Predictors that would be uploaded first: `with`, and in `encoder` the SHA-256, ":" and the name of the encoder that one of them reads.
 */
function comingOf({ url }: IncomingMessage): Coming {
  const { searchParams } = new URL(url ?? "/", "http://localhost");
  const encoder = searchParams.get("encoder");
  return {
    hashes: new Set((searchParams.get("with") ?? "").split(",")),
    encoder: encoder === null ? null : { sha256: encoder.slice(0, 64), name: encoder.slice(65) },
  };
}

/** Not checked for the configuration that a start finds on disk: a gateway that serves without one engine is better than none. */
function astrayFile(replicas: readonly GatewayReplica[]): string | null {
  for (const replica of replicas) {
    const refusal = accessRefusal(replica);
    if (refusal !== null) return `The replica ${replica.id} cannot be called. ${refusal}`;
  }
  return null;
}

const unordered = async <T>(
  read: ReadDocument<T>,
  make: (document: T, order: null) => Promise<ApiError | null>,
): Promise<ApiError | null> => ("error" in read ? read.error : make(read.document, null));

/**
 * Carries out an order if it can be read and the studio gave it.
 * @returns why it is not carried out; null if it is.
 */
export async function ordered<T>(
  orders: StudioOrders,
  request: IncomingMessage,
  read: ReadDocument<T>,
  make: (document: T, order: AcceptedOrder) => Promise<ApiError | null>,
): Promise<ApiError | null> {
  if ("error" in read) return read.error;
  const order = await orders.accept(request, read.raw);
  return order !== null && "status" in order ? order : make(read.document, order);
}

/** Why a change does not apply to the current configuration; null if it does. */
export function matchRefusal({ headers, url, method }: IncomingMessage, etag: string): ApiError | null {
  const match = headers["if-match"];
  if (match === undefined) {
    const message = `${method} ${url} needs If-Match with the ETag that GET /config gives ("none" before the first).`;
    return { status: 428, message, type: "invalid_request_error", code: "if_match_missing" };
  }
  if (match.replaceAll('"', "").trim() === etag) return null;
  const message = "The configuration has changed since it was read; GET /config and decide again.";
  return { status: 412, message, type: "invalid_request_error", code: "stale_etag" };
}

const noConfig: ApiError = { status: 404, message: "No configuration is in force yet.", type: "not_found_error", code: "no_config" };
