import type { Answer } from "@/server/clusters/connector/connector";
import { placeText, targetEngines } from "@/server/clusters/steps/targetEngines";
import { shellLine, variablesNote } from "@/server/lib/gpuCommand";
import type { Plan } from "@/solver/plan/plan";
import { commentLine } from "@/solver/wording/shellText";
import { engineCommand } from "./engineCommand";
import type { ProcessConnection } from "./processConnection";
import { indicesOf } from "./startRefusal";

/** A plan as command lines of one host, a line for each engine, on the first ports that Weir would use. */
export function exportProcesses(plan: Pick<Plan, "deployment">, connection: ProcessConnection): Answer<string> {
  const { ports, environment } = connection;
  const lines: string[] = [];
  for (const [index, engine] of targetEngines(plan).entries()) {
    const port = ports.from + index;
    if (port > ports.to) return { ok: false, message: `The plan has more engines than there are ports from ${ports.from} to ${ports.to}.` };
    const command = engineCommand(engine, connection, port);
    if (!command.ok) return command;
    lines.push("", commentLine(`${engine.id}, ${placeText(engine)}`), ...variablesNote(Object.keys(environment)));
    lines.push(shellLine(indicesOf(engine), command.value));
  }
  return { ok: true, value: `${lines.join("\n")}\n` };
}
