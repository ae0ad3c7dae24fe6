import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { configRequestSchema, type GatewayConfig, type GatewayReplica, gatewayConfigSchema } from "@/server/contracts/gatewayAdmin";
import { knobsRequestSchema, signatureSchema } from "@/server/contracts/gatewayControls";
import { accessRefusal } from "@/server/contracts/readEngineAccess";
import type { AdminHandler, AdminRoutes } from "./adminRoutes";
import { type ApiError, sendError, sendJson } from "./apiError";
import { hashRefusal } from "./candidateRefusal";
import { configRefusal } from "./configRefusal";
import type { Configuration } from "./configuration";
import type { Controls } from "./controls";
import { missingJudgeKey } from "./judgeEndpoint";
import { readDocument } from "./readDocument";
import type { Turns } from "./turns";

/** A configuration with ten thousand replicas is 2 MB. */
const configBytes = 4 * 1024 * 1024;
const revisionBytes = 64 * 1024;

interface ConfigRoutesOptions {
  readonly configuration: Configuration;
  readonly controls: Controls;
  readonly turns: Turns;
}

/** What the admin port answers about the configuration: read it, replace it, say whether one could replace it, turn its knobs, go back to the plan before. */
export function configRoutes({ configuration, controls, turns }: ConfigRoutesOptions): AdminRoutes {
  /** A change made of the configuration that the caller has read. */
  function change<T>(schema: z.ZodType<T>, limitBytes: number, make: (document: T) => Promise<ApiError | null>): AdminHandler {
    return async (request, response) => {
      const read = await readDocument(request, schema, limitBytes);
      if (read === null) return;
      await turns.take(async () => {
        const refusal = matchRefusal(request, configuration.etag) ?? ("error" in read ? read.error : await make(read.document));
        const headers = { etag: `"${configuration.etag}"` };
        if (refusal !== null) return sendError(response, refusal, headers);
        const { planId, policyHash } = configuration.current ?? {};
        sendJson(response, { etag: configuration.etag, planId, policyHash }, { headers });
      });
    };
  }
  /** Why a configuration would not be put into force, other than that the one in force has changed. */
  function refusalOf(config: GatewayConfig): ApiError | null {
    const refusal = configRefusal(config) ?? hashRefusal(config) ?? missingJudgeKey(config.judge) ?? astrayFile(config.replicas);
    if (refusal === null) return controls.configRefusal(config);
    return { status: 400, message: refusal, type: "invalid_request_error", code: "unservable_config" };
  }
  return {
    "GET /config": (_, response) => {
      const headers = { etag: `"${configuration.etag}"` };
      if (configuration.current === null) sendError(response, noConfig, headers);
      else sendJson(response, configuration.current, { headers });
    },
    "PUT /config": change(configRequestSchema, configBytes, async (config) => {
      const refusal = refusalOf(config);
      if (refusal === null) await configuration.put(config);
      return refusal;
    }),
    "POST /config/validate": async (request, response) => {
      const read = await readDocument(request, gatewayConfigSchema, configBytes);
      if (read === null) return;
      const refusal = "error" in read ? read.error : refusalOf(read.document);
      if (refusal === null) sendJson(response, { valid: true });
      else sendError(response, refusal);
    },
    "PATCH /knobs": change(knobsRequestSchema, revisionBytes, (request) => configuration.turnKnobs(request)),
    "POST /rollback": change(signatureSchema, revisionBytes, (signature) => configuration.rollBack(signature)),
  };
}

/** Not asked of what a start finds on disk: a gateway serves on without one engine rather than not at all. */
function astrayFile(replicas: readonly GatewayReplica[]): string | null {
  for (const replica of replicas) {
    const refusal = accessRefusal(replica);
    if (refusal !== null) return `The replica ${replica.id} cannot be asked. ${refusal}`;
  }
  return null;
}

function matchRefusal({ headers, url, method }: IncomingMessage, etag: string): ApiError | null {
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
