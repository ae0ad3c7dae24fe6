import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineHost, LookOptions } from "@/server/clusters/connector/engineHost";
import { generatedPart } from "@/server/clusters/connector/generatedPart";
import { foreignObstacle } from "@/server/clusters/connector/obstacle";
import { createMask } from "@/server/lib/secrets";
import { yamlText } from "@/server/lib/yamlText";
import type { ClusterPicture } from "./clusterPicture";
import type { RayConnection } from "./connection";
import { engineApplication } from "./engineApplication";
import { applicationName } from "./names";
import type { RayRead } from "./rayApi";
import type { ServeState } from "./serveState";

export interface EngineTextParts {
  readonly connection: RayConnection;
  readonly clusterId: string;
  readonly readServe: (options: LookOptions) => Promise<RayRead<ServeState>>;
  readonly picture: (options: LookOptions) => Promise<RayRead<ClusterPicture>>;
}

/** An engine's application as YAML, generated and actual, and the checks that are possible without deploying it. */
export function createEngineTexts(parts: EngineTextParts): Required<Pick<EngineHost, "generate" | "actual" | "rehearse" | "log">> {
  const { connection, clusterId, readServe, picture } = parts;
  const textOf = (application: unknown): string => createMask([])(yamlText(application));

  return {
    generate(engine) {
      const made = engineApplication(engine, connection, clusterId);
      return made.ok ? { ok: true, value: textOf(made.value) } : made;
    },

    async actual(engineId, options) {
      const serve = await readServe(options);
      if (!serve.ok) return serve;
      const found = serve.value.applications.find(({ name }) => name === applicationName(clusterId, engineId));
      if (found === undefined || found.config === null) return { ok: true, value: null };
      const made = found.owner === null ? null : engineApplication(found.owner.engine, connection, clusterId);
      const config: unknown = JSON.parse(found.config);
      return { ok: true, value: textOf(made?.ok ? generatedPart(config, made.value) : config) };
    },

    async rehearse(engine, { signal }) {
      const made = engineApplication(engine, connection, clusterId);
      if (!made.ok) return made;
      const found = await picture({ signal });
      if (!found.ok) return found;
      const obstacle = foreignObstacle(engine, found.value, "Ray cluster");
      if (obstacle !== null) return { ok: false, message: obstacle };
      const { name, route_prefix } = made.value;
      const foreign = found.value.foreign.find((one) => one.name === name || one.routePrefix === route_prefix);
      if (foreign !== undefined)
        return { ok: false, message: `Ray has an application ${foreign.name} under ${route_prefix} that is not of this cluster.` };
      const kept = found.value.foreign.length === 0 ? "" : ` and keep ${found.value.foreign.map((one) => one.name).join(", ")} as they are`;
      return {
        ok: true,
        value: `Weir would put the application ${name} to Ray${kept}; its nodes have the GPUs. Ray has no dry run: whether the application builds shows when it is deployed.`,
      };
    },

    async log(engineId, options): Promise<Answer<string>> {
      const name = applicationName(clusterId, engineId);
      const serve = await readServe(options);
      if (!serve.ok) return serve;
      if (serve.value.applications.every((one) => one.name !== name))
        return { ok: false, message: `Ray has no application of ${engineId}.` };
      return {
        ok: false,
        message: `Ray keeps logs on its nodes, and Weir does not read them: on the dashboard at ${connection.dashboard} they are under Serve, application ${name}, and on the node under /tmp/ray/session_latest/logs/serve.`,
      };
    },
  };
}
