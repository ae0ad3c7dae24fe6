import type { Answer } from "@/server/clusters/connector/connector";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { yamlText } from "@/server/lib/yamlText";
import type { Plan } from "@/solver/plan/plan";
import { commentLine } from "@/solver/wording/shellText";
import type { RayConnection } from "./connection";
import { type EngineApplication, engineApplication } from "./engineApplication";

/**
 * A plan as YAML for `serve deploy` or a RayService: exactly the applications that applying it creates.
 *
 * @returns a sentence if the connection does not define the weights.
 */
export function exportServeConfig(plan: Pick<Plan, "deployment">, connection: RayConnection, clusterId: string): Answer<string> {
  const applications: EngineApplication[] = [];
  for (const engine of targetEngines(plan)) {
    const made = engineApplication(engine, connection, clusterId);
    if (!made.ok) return made;
    applications.push(made.value);
  }
  const { http } = connection;
  const config = { ...(http === undefined ? {} : { http_options: http }), applications };
  const warning = commentLine("Ray removes every application that is not listed: add those of others before it is deployed.");
  return { ok: true, value: `${warning}\n${yamlText(config)}` };
}
