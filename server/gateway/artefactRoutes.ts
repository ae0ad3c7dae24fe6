import type { IncomingMessage } from "node:http";
import type { GatewayArtefact } from "@/server/contracts/gatewayLearning";
import { learntOf } from "@/solver/plan/policySchema";
import type { AdminRoutes } from "./adminRoutes";
import { type ApiError, sendError, sendJson } from "./apiError";
import { type AboutArtefact, artefactBytes, sha256 } from "./artefactShelf";
import type { Configuration } from "./configuration";
import { conflict, nothingToEnd, senseless } from "./control";
import type { Controls } from "./controls";
import { pathEnd } from "./pathOf";
import { lookInto } from "./predictionThread";
import { readBody } from "./readBody";
import type { Serving } from "./serving";
import type { Turns } from "./turns";

interface ArtefactRoutesOptions {
  readonly serving: Serving;
  readonly configuration: Configuration;
  readonly controls: Controls;
  readonly turns: Turns;
}

const hashForm = /^[0-9a-f]{64}$/;

/** What the admin port answers about trained predictors: keep one, list them, remove one that nobody uses. */
export function artefactRoutes({ serving: { shelf, foresight }, configuration, controls, turns }: ArtefactRoutesOptions): AdminRoutes {
  const { desk } = foresight;
  /** Those that some policy names: in force, before it, or tried. */
  function used(): ReadonlySet<string> {
    const canary = controls.canary.read();
    const tried = [canary?.state === "running" ? canary : null, controls.shadow.read()];
    return new Set([...configuration.learnt, ...tried.flatMap((one) => (one === null ? [] : learntOf(one.candidate.policy)))]);
  }
  const shown = (hash: string, { kind, bytes, models }: AboutArtefact): GatewayArtefact => {
    return { hash, kind, bytes, models: [...models], used: used().has(hash), ...(desk.lacking.has(hash) && { fails: true }) };
  };
  return {
    "GET /artefacts": (_, response) => sendJson(response, { artefacts: shelf.list.map(({ hash, ...about }) => shown(hash, about)) }),
    "PUT /artefacts/:id": async (request, response) => {
      const hash = pathEnd(request);
      const bytes = await bytesOf(request, hash);
      if (bytes === null) return;
      const refusal = "status" in bytes ? bytes : await keep(hash, bytes);
      const about = shelf.get(hash);
      if (refusal !== null || about === undefined) sendError(response, refusal ?? unknown(hash));
      else sendJson(response, shown(hash, about));
    },
    "DELETE /artefacts/:id": async (request, response) => {
      const hash = pathEnd(request);
      const refusal = await turns.take(async () => {
        if (shelf.get(hash) === undefined) return unknown(hash);
        if (used().has(hash)) return conflict("A policy that is in force, was before it, or is tried names this predictor.");
        await shelf.remove(hash);
        return null;
      });
      if (refusal === null) sendJson(response, { removed: hash });
      else sendError(response, refusal);
    },
  };

  async function keep(hash: string, bytes: Buffer): Promise<ApiError | null> {
    const fails = desk.lacking.has(hash);
    if (shelf.get(hash) !== undefined && !fails) return null;
    const loaded = await lookInto({ hash, at: bytes }, shelf.encoders);
    if ("problem" in loaded)
      return senseless(loaded.absent === "no-encoder" ? loaded.problem : `These bytes cannot be used as a predictor. ${loaded.problem}`);
    const { kind, models, encoder, workflow } = loaded;
    // Not the trial, which may take a while: a panic would wait for it.
    const kept = await turns.take(async () => {
      if (fails) await shelf.remove(hash);
      return shelf.keep(hash, bytes, { kind, models, encoder, workflow }, used());
    });
    await desk.renew(hash);
    return kept ? null : conflict("There is no room for another predictor beside those that policies name: remove a plan's first.");
  }
}

/** The body, checked against its hash; null where the client went away. */
async function bytesOf(request: IncomingMessage, hash: string): Promise<Buffer | ApiError | null> {
  const read = await readBody(request, { mostBytes: artefactBytes });
  if (read.kind === "too-large") {
    const message = `A predictor may have ${artefactBytes} bytes.`;
    return { status: 413, message, type: "invalid_request_error", code: "body_too_large" };
  }
  if (read.kind !== "body") return null;
  if (!hashForm.test(hash)) return senseless("A predictor is kept under its SHA-256, 64 hexadecimal digits.");
  const actual = sha256(read.bytes);
  return actual === hash ? read.bytes : senseless(`The SHA-256 of these ${read.bytes.length} bytes is ${actual}, not the one in the path.`);
}

const unknown = (hash: string): ApiError => nothingToEnd(`There is no predictor ${JSON.stringify(hash.slice(0, 64))} here.`);
