import { isUtf8 } from "node:buffer";
import { memberSpan } from "./memberSpan";
import type { BodySource, ModelRequest } from "./modelRequest";

interface EngineBodyOptions {
  readonly stream: boolean;
  /** In the engine's scale; null leaves the field out. */
  readonly priority: number | null;
  /** Fields in addition to the client's. */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The body for an engine: the client's own with the engine's model name and a priority in its terms. A judged stage must be read whole
 * before anything is sent, so it is asked for without streaming, and engines refuse `stream_options` then.
 */
export function engineBody(asked: ModelRequest, model: string, { stream, priority: own, added }: EngineBodyOptions): string | Buffer {
  const { source, body: read } = asked;
  const changesModelAlone = own === null && read.priority === undefined && added === undefined && (!asked.stream || stream);
  if (changesModelAlone && source?.body === read) {
    const renamed = withModel(source, model);
    if (renamed !== null) return renamed;
  }
  // A copy that is then changed: a spread with members after it costs ten times as much.
  const body: Record<string, unknown> = { ...asked.body };
  body.model = model;
  body.priority = own ?? undefined;
  if (added !== undefined) Object.assign(body, added);
  if (asked.stream && !stream) {
    body.stream = false;
    body.stream_options = undefined;
  }
  return JSON.stringify(body);
}

/** The client's bytes with another model; null where only a parser may change them. */
function withModel({ body, bytes }: BodySource, model: string): Buffer | null {
  const span = isUtf8(bytes) ? memberSpan(bytes, "model", Object.keys(body).length) : null;
  if (span === null) return null;
  return Buffer.concat([bytes.subarray(0, span.from), Buffer.from(JSON.stringify(model)), bytes.subarray(span.to)]);
}
