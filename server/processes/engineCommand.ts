import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { commandLine } from "@/server/engines/commandLine";
import type { ProcessConnection } from "./processConnection";
import { processTemplates } from "./processTemplates";
import { indicesOf } from "./startRefusal";

/** Engines listen for the gateway, which runs on this host too. */
export const listenOn = "127.0.0.1";

/** How an engine is started under its card's name, or why the connection does not define it. */
export function engineCommand(
  order: EngineOrder,
  connection: Pick<ProcessConnection, "models" | "engine" | "templates">,
  port: number,
): Answer<readonly string[]> {
  const model = Object.hasOwn(connection.models, order.model) ? connection.models[order.model] : undefined;
  if (model === undefined) return { ok: false, message: `The connection does not say what to load for ${order.model}.` };
  const { source, args = [], engine = connection.engine } = model;
  const template = { ...processTemplates(), ...connection.templates }[engine];
  if (template === undefined) return { ok: false, message: `There is no template "${engine}".` };
  const { model: servedName, tp, pp, precision } = order;
  return {
    ok: true,
    value: commandLine(template, { source, args, servedName, host: listenOn, port, tp, pp, precision, gpus: indicesOf(order) }),
  };
}
