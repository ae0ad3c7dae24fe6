import type { IncomingMessage } from "node:http";
import type { GatewayArtefact } from "@/server/contracts/gateway/gatewayLearning";
import { learntOf } from "@/solver/plan/policySchema";
import { type ApiError, badRequest, conflict, nothingToEnd, sendError, sendJson } from "../http/apiError";
import { readBytes } from "../http/readDocument";
import { pathEnd } from "../http/requestTarget";
import { type AboutArtefact, artefactBytes, sha256 } from "../prediction/artifactStore";
import { inspectArtefact } from "../prediction/predictionThread";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";

const hashForm = /^[0-9a-f]{64}$/;

/** Routes for trained predictors: store one, list them, remove an unused one. */
export function artefactRoutes({ serving: { artifacts, predictions }, configuration, controls, mutex }: AdminOptions): AdminRoutes {
  const { service } = predictions;
  /** Hashes of the artefacts that a policy names: the one in force, the one before it, or one that is tried. */
  function used(): ReadonlySet<string> {
    const canary = controls.canary.read();
    const tried = [canary?.state === "running" ? canary : null, controls.shadow.read()];
    return new Set([...configuration.learnt, ...tried.flatMap((one) => (one === null ? [] : learntOf(one.candidate.policy)))]);
  }
  const shown = (hash: string, { kind, bytes, models }: AboutArtefact): GatewayArtefact => {
    return { hash, kind, bytes, models: [...models], used: used().has(hash), ...(service.lacking.has(hash) && { fails: true }) };
  };
  return {
    "GET /artefacts": (_, response) => sendJson(response, { artefacts: artifacts.list.map(({ hash, ...about }) => shown(hash, about)) }),
    "PUT /artefacts/:id": async (request, response) => {
      const hash = pathEnd(request);
      const bytes = await bytesOf(request, hash);
      if (bytes === null) return;
      const refusal = "status" in bytes ? bytes : await keep(hash, bytes);
      const about = artifacts.get(hash);
      if (refusal !== null || about === undefined) sendError(response, refusal ?? unknown(hash));
      else sendJson(response, shown(hash, about));
    },
    "DELETE /artefacts/:id": async (request, response) => {
      const hash = pathEnd(request);
      const refusal = await mutex.run(async () => {
        if (artifacts.get(hash) === undefined) return unknown(hash);
        if (used().has(hash)) return conflict("A policy in force, the one before it or a candidate uses this predictor.");
        await artifacts.remove(hash);
        return null;
      });
      if (refusal === null) sendJson(response, { removed: hash });
      else sendError(response, refusal);
    },
  };

  async function keep(hash: string, bytes: Buffer): Promise<ApiError | null> {
    const fails = service.lacking.has(hash);
    if (artifacts.get(hash) !== undefined && !fails) return null;
    const loaded = await inspectArtefact({ hash, at: bytes }, artifacts.encoders);
    if ("problem" in loaded)
      return badRequest(loaded.absent === "no-encoder" ? loaded.problem : `These bytes cannot be used as a predictor. ${loaded.problem}`);
    const { kind, models, encoder, workflow } = loaded;
    // The trial runs outside the mutex: it may take a while, and a panic would wait for it.
    const kept = await mutex.run(async () => {
      if (fails) await artifacts.remove(hash);
      return artifacts.keep(hash, bytes, { kind, models, encoder, workflow }, used());
    });
    await service.renew(hash);
    return kept
      ? null
      : conflict("There is no room for another predictor: policies use all that are stored. Remove a plan that uses one first.");
  }
}

/** The body, checked against its hash; null if the client disconnected. */
async function bytesOf(request: IncomingMessage, hash: string): Promise<Buffer | ApiError | null> {
  const bytes = await readBytes(request, artefactBytes);
  if (bytes === null || "status" in bytes) return bytes;
  if (!hashForm.test(hash)) return badRequest("The name of a predictor is its SHA-256: 64 hexadecimal digits.");
  const actual = sha256(bytes);
  return actual === hash ? bytes : badRequest(`The SHA-256 of these ${bytes.length} bytes is ${actual}, not the one in the path.`);
}

const unknown = (hash: string): ApiError => nothingToEnd(`There is no predictor ${JSON.stringify(hash.slice(0, 64))} here.`);
