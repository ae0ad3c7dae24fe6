import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import { ensembleRequestSchema, MOST_ENSEMBLES, tauRequestSchema } from "@/server/contracts/gateway/gatewayEnsembles";
import { AGGREGATE_ALL, type Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import { type ApiError, badRequest, conflict, nothingToEnd, sendError, sendJson } from "../http/apiError";
import { readDocument } from "../http/readDocument";
import { pathOf } from "../http/requestTarget";
import { type AuditNote, withReason } from "../lib/auditLog";
import { ensembleRefusal } from "../serving/configRefusal";
import type { AdminHandler, AdminOptions, AdminRoutes } from "./adminRoutes";
import { matchRefusal, ordered } from "./configRoutes";

/** Sixteen experts with skills in a hundred categories take less. */
const ensembleBytes = 256 * 1024;

interface Change {
  readonly ensembles: readonly Ensemble[];
  /** What the change does: a sentence without its full stop. */
  readonly says: string;
}

/** Admin routes for ensembles: list the served ones with their counts; serve one, end it, or change its threshold. */
export function ensembleRoutes({ configuration, ensembles, mutex, orders }: AdminOptions): AdminRoutes {
  const served = (): readonly Ensemble[] => configuration.current?.settings?.ensembles ?? [];
  const view = () => ensembles.view(configuration.current);
  const etag = () => ({ etag: `"${configuration.etag}"` });

  /** Changes the configuration that the caller has read. `make` returns the ensembles to serve, or the error. */
  function change<T extends z.infer<typeof signatureSchema>>(
    schema: z.ZodType<T>,
    action: AuditNote["action"],
    make: (name: string, document: T) => Change | ApiError,
  ): AdminHandler {
    return async (request, response) => {
      const read = await readDocument(request, schema, ensembleBytes);
      if (read === null) return;
      const refusal = await mutex.run(async () => {
        const refused = matchRefusal(request, configuration.etag);
        if (refused !== null) return refused;
        return ordered(orders, request, read, async (document, order) => {
          const made = make(nameOf(request), document);
          if ("status" in made) return made;
          const { by, reason } = document;
          return configuration.serveEnsembles(made.ensembles, { by, action, detail: withReason(made.says, reason) }, order);
        });
      });
      if (refusal === null) sendJson(response, view(), { headers: etag() });
      else sendError(response, refusal, { ...etag(), ...orders.revisionHeaders(refusal) });
    };
  }

  return {
    "GET /ensembles": (_, response) => sendJson(response, view(), { headers: etag() }),
    "PUT /ensembles/:id": change(ensembleRequestSchema, "ensemble served", (name, { ensemble }) => {
      if (ensemble.name !== name) return badRequest(`The path names ${name}, but the ensemble is called ${ensemble.name}.`);
      const refusal = ensembleRefusal(ensemble);
      if (refusal !== null) return badRequest(refusal);
      const before = served();
      const known = before.some((one) => one.name === name);
      if (!known && before.length >= MOST_ENSEMBLES)
        return conflict(`This gateway serves ${MOST_ENSEMBLES} ensembles, its limit: delete one first.`);
      const { experts, expertsPerQuestion, aggregator, tau } = ensemble;
      const says = `The ensemble ${name} of ${experts.join(", ")} with the aggregator ${aggregator.model}, which is ${tau === AGGREGATE_ALL ? "never skipped" : `skipped from a confidence of ${formatTau(tau, expertsPerQuestion)} on`}, is ${known ? "changed" : "served"}`;
      return { ensembles: known ? before.map((one) => (one.name === name ? ensemble : one)) : [...before, ensemble], says };
    }),
    "DELETE /ensembles/:id": change(signatureSchema, "ensemble ended", (name) => {
      const left = served().filter((one) => one.name !== name);
      if (left.length === served().length) return unknown(name);
      return { ensembles: left, says: `The ensemble ${name} is no longer served` };
    }),
    "PUT /ensembles/:id/tau": change(tauRequestSchema, "tau changed", (name, { tau }) => {
      const before = served().find((one) => one.name === name);
      if (before === undefined) return unknown(name);
      const said = (each: number): string => formatTau(each, before.expertsPerQuestion);
      const skips = tau === AGGREGATE_ALL ? "never skips its aggregator" : `skips its aggregator from a confidence of ${said(tau)} on`;
      const did = before.tau === AGGREGATE_ALL ? "never did" : `did from ${said(before.tau)} on`;
      const says = `The ensemble ${name} ${skips}; before it ${did}`;
      return { ensembles: served().map((one) => (one === before ? { ...one, tau } : one)), says };
    }),
  };
}

/** The path segment after `/ensembles/` and before `/tau`. */
function nameOf(request: IncomingMessage): string {
  const name = pathOf(request)
    .slice("/ensembles/".length)
    .replace(/(?<=.)\/tau$/, "");
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const unknown = (name: string): ApiError => nothingToEnd(`No ensemble ${JSON.stringify(name.slice(0, 80))} is served.`);
