import type { ServerResponse } from "node:http";
import { ensemblePrefix } from "@/server/contracts/gateway/gatewayEnsembles";
import { messagesPath, responsesPath } from "../dialects/dialects";
import { sendError, sendJson } from "../http/apiError";
import { chatEndpoint } from "../http/chatEndpoint";
import { endpoints } from "../http/endpoints";
import { unservedModel } from "../request/admission";
import type { Serving } from "../serving/serving";

const conversations = [chatEndpoint.path, messagesPath, responsesPath];
const pathsOf = (isText: boolean): readonly string[] =>
  endpoints.filter(({ path, text }) => path !== chatEndpoint.path && (text !== null) === isText).map(({ path }) => path);
const texts = [...conversations, ...pathsOf(true)];
/** What engines answer without a text of their own, by the name of their model. */
const ofEngines = pathsOf(false);

/** The served names as clients list them, with what is known of each. */
export class ModelList {
  readonly #serving: Serving;
  readonly #startedAtSeconds = Math.floor(Date.now() / 1000);

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  async sendAll(response: ServerResponse): Promise<void> {
    const data = await Promise.all(this.#serving.names.map((name) => this.#entry(name)));
    sendJson(response, { object: "list", data });
  }

  async sendOne(response: ServerResponse, name: string): Promise<void> {
    if (this.#serving.find(name) === undefined && !this.#serving.names.includes(name)) sendError(response, unservedModel(name));
    else sendJson(response, await this.#entry(name));
  }

  /** `max_model_len` as vLLM has it: of a cascade the smallest of its models. `endpoints`: whether an engine embeds or ranks is not known. */
  async #entry(id: string): Promise<object> {
    const served = this.#serving.find(id);
    const isEnsemble = id.startsWith(ensemblePrefix);
    const length = served === undefined ? null : await this.#serving.pool.contextLengths.of(served.models);
    return {
      id,
      object: "model",
      created: this.#startedAtSeconds,
      owned_by: "weir",
      ...(length !== null && { max_model_len: length }),
      endpoints: isEnsemble ? conversations : served?.kind === "direct" ? [...texts, ...ofEngines] : texts,
    };
  }
}
