import type { Answer } from "@/server/clusters/connector";
import { placeText, targetEngines } from "@/server/clusters/targetEngines";
import { quoted } from "@/server/engines/commandLine";
import type { Plan } from "@/solver/plan/plan";
import { engineCommand } from "./engineCommand";
import type { ProcessConnection } from "./processConnection";
import { indicesOf } from "./startRefusal";

/** A plan as command lines of one host, a line for each engine, on the ports that Weir would begin with. */
export function exportProcesses(plan: Pick<Plan, "id" | "metadata" | "deployment">, connection: ProcessConnection): Answer<string> {
  const { ports } = connection;
  const lines = [`# Plan ${plan.metadata.name}, ${plan.id}`];
  for (const [index, engine] of targetEngines(plan).entries()) {
    const port = ports.from + index;
    if (port > ports.to) return { ok: false, message: `The plan has more engines than there are ports from ${ports.from} to ${ports.to}.` };
    const command = engineCommand(engine, connection, port);
    if (!command.ok) return command;
    lines.push("", `# ${engine.id}, ${placeText(engine)}`, ...keysText(connection));
    lines.push(`CUDA_VISIBLE_DEVICES=${indicesOf(engine).join(",")} ${command.value.map(quoted).join(" ")}`);
  }
  return { ok: true, value: `${lines.join("\n")}\n` };
}

/** Variables beside those every program needs: by name only, as some are keys. */
function keysText({ environment }: ProcessConnection): readonly string[] {
  const names = Object.keys(environment);
  return names.length === 0 ? [] : [`# with ${names.join(", ")} in its environment`];
}
